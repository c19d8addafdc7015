package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const channelID = "6a1e0000-0000-4000-8000-000000000021"

var _ = addPages(map[string]string{
	"/channels":                        "https://hooks.example.org/x",
	"/channels?type=email":             `href="/channels">Clear<`,
	"/channels/new":                    "Signs each message",
	"/channels/new?type=email":         "Recipients, one in each line",
	"/channels/" + channelID:           "refused &lt;b&gt;it",
	"/channels/" + channelID + "/edit": "Edit on-call",
}, func(a *apitest.API) {
	a.Answer("list-channels", 200, apitest.Page(webhookChannel()))
	a.Answer("get-channel", 200, webhookChannel())
	code := int64(403)
	a.Answer("list-channel-deliveries", 200, apitest.Page(api.ChannelDelivery{ID: "d1", ChannelID: channelID, Kind: "test", Attempt: 1, At: apitest.Now, Outcome: "failed", StatusCode: &code, DurationMS: 12, Error: "The receiver refused <b>it."}))
})

func webhookChannel() api.Channel {
	return api.Channel{
		ID: channelID, Name: "on-call", Type: "webhook", Enabled: true, Subscribes: []string{"dns_zone"}, URL: "https://hooks.example.org/x", Recipients: []string{},
		Secrets: []api.ChannelSecret{{ID: "s1", CreatedAt: apitest.Now}}, Operations: allowed("change", "test", "delete"), Version: 4, CreatedAt: apitest.Now, UpdatedAt: apitest.Now,
	}
}

// Secrets go to the API and are not drawn again; a form is sent as it was typed.
func TestChannelForms(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("create-channel", 422, api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "body.url", Message: "is in a <private> range"}}})
	a := s.post("/channels/new", url.Values{"type": {"webhook"}, "name": {"on-call"}, "url": {"https://10.0.0.1/"}, "secret": {"whsec_hidden"}, "subscribes": {"dns_zone\n*"}, "enabled": {"true"}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "https://10.0.0.1/", "&lt;private&gt;")
	if strings.Contains(a.body, "whsec_hidden") {
		t.Error("the secret is drawn again")
	}
	var made api.CreateChannel
	s.only("create-channel").Into(t, &made)
	if made.Secret != "whsec_hidden" || strings.Join(made.Subscribes, " ") != "dns_zone *" || !*made.Enabled || made.Server != "" {
		t.Errorf("%+v", made)
	}

	mailed := webhookChannel()
	mailed.Type, mailed.URL, mailed.Server, mailed.TLS, mailed.HasPassword, mailed.Username = "email", "", "m.example:587", "starttls", true, "k"
	s.api.Answer("get-channel", 200, mailed)
	s.wantText(s.get("/channels/"+channelID+"/edit"), "Empty to keep the one that is there")
	s.api.Answer("change-channel", 200, mailed)
	a = s.post("/channels/"+channelID+"/edit", url.Values{"version": {"4"}, "name": {"on-call"}, "server": {"m.example"}, "tls": {"tls"}, "username": {"k"}, "sender": {"a@b.example"}, "recipients": {"c@d.example"}})
	s.wantStatus(a, http.StatusSeeOther)
	var changed api.ChangeChannel
	call := s.only("change-channel")
	call.Into(t, &changed)
	if changed.Password != nil || changed.URL != nil || *changed.Enabled || call.Header.Get("If-Match") == "" || (*changed.Recipients)[0] != "c@d.example" {
		t.Errorf("%+v with %v", changed, call.Header)
	}
}

func TestChannelActions(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("test-channel", 202, webhookChannel(), apitest.JobID)
	if a := s.post("/channels/"+channelID+"/test", url.Values{}); a.Header.Get("Location") != "/jobs/"+apitest.JobID {
		t.Errorf("a test leads to %q", a.Header.Get("Location"))
	}
	s.api.Answer("add-channel-secret", 200, webhookChannel())
	s.api.Answer("remove-channel-secret", 200, webhookChannel())
	s.wantStatus(s.post("/channels/"+channelID+"/secrets", url.Values{"secret": {"whsec_new"}}), http.StatusSeeOther)
	s.wantStatus(s.post("/channels/"+channelID+"/secrets/s1/remove", url.Values{}), http.StatusSeeOther)
	var gone api.RemoveChannelSecret
	s.only("remove-channel-secret").Into(t, &gone)
	if gone.SecretID != "s1" {
		t.Errorf("%+v", gone)
	}
	s.wantStatus(s.post("/channels/"+channelID+"/delete", url.Values{"confirm": {"other"}}), http.StatusConflict)
	s.api.Answer("delete-channel", 204, nil)
	s.wantStatus(s.post("/channels/"+channelID+"/delete", url.Values{"confirm": {"on-call"}, "version": {"4"}}), http.StatusSeeOther)
}
