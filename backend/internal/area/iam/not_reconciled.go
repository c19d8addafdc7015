package iam

// NotReconciled says of the nouns of this area that no policy looks at why that is so.
func NotReconciled() map[string]string {
	return map[string]string{
		"account":           "a person changes it, and each request reads it afresh; nothing outside of the database can differ",
		"member":            "a membership counts from the request that gave it; groups of identity providers are read at each login",
		"organization":      "it is a scope of names and rights, and nothing of it exists outside of the database",
		"project":           "it is a scope of names and rights, and nothing of it exists outside of the database",
		"workspace":         "it is a scope of names and rights; the objects in it have their own policies",
		"role":              "a set of permissions that each request reads afresh",
		"service_account":   "keys that have expired are refused, and removed by expired_tokens",
		"invitation":        "one that has expired is refused; expired_invitations removes it later",
		"identity_provider": "it is asked at each login; whether it answers in between is not looked at yet",
		"approval_rule":     "it is read in the transaction that applies a plan, not later",
		"host_grant":        "placement reads it in its transaction; nothing outside of the database can differ",
		"shared_host":       "it is a host of another workspace, whose policies look at it",
		"network_grant":     "placement reads it in its transaction; nothing outside of the database can differ",
		"shared_network":    "it is a network of another workspace, whose policies look at it",
		"dns_zone_grant":    "record sets are made by it in its transaction; nothing outside of the database can differ",
		"shared_dns_zone":   "it is a zone of another workspace, whose policies look at it",
		"quota":             "it is enforced in the transaction that takes from it, not later",
		"price":             "a person sets it; statements that are made keep theirs",
		"usage":             "it is counted by the changes of the objects themselves",
		"statement":         "it is made of usage when it is read",
	}
}
