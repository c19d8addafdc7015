// oidc is the example provider of zitadel/oidc as a program of its own, for the test of logins: with a client, people and their
// groups that the test writes. It is a module of its own, so that nothing of it comes to the product.
//
// Its keys are new at each start.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

const groupsScope = "groups"

// people are those who can log in: the claims of each, by name. The file is read at each question.
type people struct{ file string }

func (p people) claims(name string) map[string]any {
	text, err := os.ReadFile(p.file)
	if err != nil {
		return nil
	}
	var all map[string]map[string]any
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all[name]
}

// The password is that of the test. It opens nothing.
func (p people) GetUserByID(name string) *storage.User {
	if p.claims(name) == nil {
		return nil
	}
	return &storage.User{ID: name, Username: name, Password: "password of " + name, Email: name + "@example.org", EmailVerified: true}
}

func (p people) GetUserByUsername(name string) *storage.User { return p.GetUserByID(name) }
func (p people) ExampleClientID() string                     { return storage.ServiceUserID }

// store is the storage of the example, which knows no groups.
type store struct {
	*storage.Storage
	people people
}

// client may ask for groups.
type client struct{ op.Client }

func (client) IsScopeAllowed(scope string) bool { return scope == groupsScope }

func (s store) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	found, err := s.Storage.GetClientByClientID(ctx, id)
	if err != nil {
		return nil, err
	}
	return client{found}, nil
}

func (s store) SetUserinfoFromRequest(ctx context.Context, info *oidc.UserInfo, token op.IDTokenRequest, scopes []string) error {
	if err := s.Storage.SetUserinfoFromRequest(ctx, info, token, scopes); err != nil {
		return err
	}
	for _, scope := range scopes {
		if groups, told := s.people.claims(token.GetSubject())["groups"]; told && scope == groupsScope {
			info.AppendClaims("groups", groups)
		}
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "oidc:", err)
		os.Exit(1)
	}
}

func run() error {
	issuer := os.Getenv("ISSUER")
	at, err := url.Parse(issuer)
	if err != nil {
		return err
	}
	back := os.Getenv("REDIRECT_URI")
	storage.RegisterClients(storage.WebClient(os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"), back), storage.WebClient("other", "secret of other", back))
	who := people{os.Getenv("PEOPLE")}
	s := store{storage.NewStorage(who), who}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	server := http.Server{Addr: at.Host, Handler: exampleop.SetupServer(issuer, s, log, false), ReadHeaderTimeout: time.Minute}
	return server.ListenAndServe()
}
