package kube

import (
	"strings"
	"testing"

	"kloigos/backend/internal/kernel/fault"
)

func TestOIDC(t *testing.T) {
	t.Parallel()
	var bad fault.Invalid
	good := OIDC{Issuer: "https://login.example.org:8443/realms/a", ClientID: "kubernetes"}.checked(&bad)
	if len(bad.Fields) > 0 || good.UsernameClaim != "sub" || good.GroupsClaim != "" {
		t.Errorf("%+v, %+v", good, bad.Fields)
	}
	if none := (OIDC{}).checked(&bad); len(bad.Fields) > 0 || none != (OIDC{}) {
		t.Errorf("%+v, %+v", none, bad.Fields)
	}
}

// They become flags of the API server of a cluster: what could be another flag, or another provider than it looks like, is refused.
func TestHostileOIDC(t *testing.T) {
	t.Parallel()
	const issuer, client = "https://login.example.org", "kubernetes"
	for field, wrong := range map[string][]OIDC{
		"oidc_issuer": {
			{ClientID: client},
			{Issuer: "http://login.example.org", ClientID: client},
			{Issuer: "https://", ClientID: client},
			{Issuer: "https://ada@login.example.org", ClientID: client},
			{Issuer: "https://login.example.org?a=b", ClientID: client},
			{Issuer: "https://login.example.org#a", ClientID: client},
			{Issuer: "https://login.example.org//a", ClientID: client},
			{Issuer: "https://login.example.org/\n", ClientID: client},
			{Issuer: "https://login.example.org --anonymous-auth=true", ClientID: client},
			{Issuer: "https://{{ lookup('pipe', 'id') }}", ClientID: client},
			{Issuer: issuer + "/" + strings.Repeat("a", 500), ClientID: client},
		},
		"oidc_client_id":      {{Issuer: issuer}, {Issuer: issuer, ClientID: "-x"}, {Issuer: issuer, ClientID: "a b"}, {Issuer: issuer, ClientID: "a,b"}, {Issuer: issuer, ClientID: strings.Repeat("a", 201)}},
		"oidc_username_claim": {{Issuer: issuer, ClientID: client, UsernameClaim: "-"}, {Issuer: issuer, ClientID: client, UsernameClaim: "a\n"}},
		"oidc_groups_claim":   {{Issuer: issuer, ClientID: client, GroupsClaim: "{{ a }}"}, {Issuer: issuer, ClientID: client, GroupsClaim: strings.Repeat("a", 101)}},
	} {
		for _, o := range wrong {
			var bad fault.Invalid
			if o.checked(&bad); len(bad.Fields) != 1 || bad.Fields[0].Field != field {
				t.Errorf("%+v: %+v", o, bad.Fields)
			}
		}
	}
}
