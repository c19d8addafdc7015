// Package playbooks owns what Kloigos runs on hosts: the playbooks with their roles and modules, embedded into the
// binary so that a backend can seed its database with them.
//
// It refuses to know how they are bundled or run; that is backend/internal/bundle and backend/internal/ansible.
package playbooks

import "embed"

// Files holds every playbook (<name>/playbook.yml with its bundle.yml), roles/, library/ and module_utils/.
//
//go:embed all:host_probe all:host_measure all:host_initialize all:host_decommission all:host_admin_key all:unit_allocate all:unit_deallocate all:kube_prepare all:kubeadm_init all:kubeadm_join all:kubeadm_reset all:kube_etcd all:kubeadm_upgrade all:kubeadm_certs all:roles all:library all:module_utils
var Files embed.FS
