// Package noun holds the nouns of the API as the command line has them: a file
// each, whose value says its columns, filters, fields and actions. How a noun
// becomes commands is shape's.
package noun

import "kloigos/cli/internal/shape"

// All are all nouns, in the order of the help. A new noun adds its line here.
func All() []shape.Entry {
	return []shape.Entry{
		host,
		agent,
		drift,
		driftMode,
		updateDelivery,
		deliveryTarget,
		agentBuild,
		unit,
		allocation,
		address,
		dnsZone,
		dnsRecordSet,
		dnsForeign,
		channel,
		channelDelivery,
		cluster,
		clusterNode,
		clusterBinding,
		kubeVersion,
		organization,
		project,
		workspace,
		grant,
		quota,
		usage,
		price,
		member,
		invitation,
		role,
		serviceAccount,
		account,
		identityProvider,
		groupMapping,
		identity,
		passkey,
		installationProvider,
		installationMapping,
		playbook,
		job,
		plan,
		event,
		organizationEvent,
		installationEvent,
		token,
		capacity,
		queue,
		policy,
		notReconciled,
		condition,
		objectCondition,
		backend,
		system,
	}
}
