package demo

import (
	"context"
	_ "embed" // the script
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kloigos/backend/api"
)

//go:embed guest/canaries.py
var canariesScript []byte

// canary is a file that appears, here or on the host, if anything runs what is only text.
func (i *Installation) canary() string { return "/var/tmp/kloigos-canary-" + filepath.Base(i.path()) }

// hostileKeys are public keys whose comments are the one free text of a user's that reaches a host.
func (i *Installation) hostileKeys() ([]string, error) {
	var keys []string
	for n, comment := range []string{
		"{{ lookup('pipe', 'touch CANARY') }}", "{% for x in [1] %}{{ lookup('pipe', 'touch CANARY') }}{% endfor %}", "$(touch CANARY)", "`touch CANARY`", "; touch CANARY", "-oProxyCommand=touch CANARY",
		"--upload-pack=touch CANARY", `'"\`, "<script>alert(1)</script>", "ansible_connection=local", "%u ~ $HOME",
	} {
		file := i.path(fmt.Sprintf("id_hostile%d", n))
		key, err := makeKey(file, strings.ReplaceAll(comment, "CANARY", i.canary()))
		if err != nil {
			return nil, err
		}
		if err := os.Remove(file); err != nil { // nobody is to log in with it
			return nil, fmt.Errorf("remove a private key: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// hostileText: the second tenant's keys carry commands and templates as comments. They are on the host byte for byte,
// other places refuse such text, and nothing has run it: not there, not here.
func (c *checker) hostileText(ctx context.Context) error {
	if c.second.a.ID == "" {
		return errNoGround
	}
	now, err := c.i.Client.GetAllocation(ctx, c.second.a.ID)
	if err != nil {
		return fmt.Errorf("read the allocation: %w", err)
	}
	if !slices.Equal(now.SSHKeys, c.secondKeys) {
		return fmt.Errorf("the keys came back as %q", now.SSHKeys)
	}
	template := "{{ lookup('pipe', 'touch " + c.i.canary() + "') }}"
	token, err := c.i.session.CreateToken(ctx, api.CreateToken{Name: template[:min(len(template), 64)], Days: 1})
	if err == nil {
		err = c.i.Client.DeleteToken(ctx, token.ID)
	}
	if err != nil {
		return fmt.Errorf("a token called by a template: %w", err)
	}
	for _, request := range []api.CreateAllocation{
		{CPUs: 1, SSHKeys: c.secondKeys[:1], Labels: map[string]string{"team": template}},
		{CPUs: 1, SSHKeys: c.secondKeys[:1], Labels: map[string]string{template: "x"}},
		{CPUs: 1, SSHKeys: c.secondKeys[:1], LoginUser: "$(id)"},
		{CPUs: 1, SSHKeys: []string{"-oProxyCommand=x"}},
	} {
		_, _, err := c.i.Client.CreateAllocation(ctx, request)
		var problem *api.Problem
		if !errors.As(err, &problem) || problem.Status != 422 || len(problem.Errors) == 0 {
			return fmt.Errorf("%+v was not refused with a reason: %w", request, err)
		}
	}
	said, err := c.i.onHost(ctx, canariesScript, map[string]any{"canary": c.i.canary(), "user": c.second.a.LoginUser, "keys": c.secondKeys})
	if err != nil {
		return err
	}
	if said = strings.TrimSpace(said); said != "" {
		return fmt.Errorf("on the host: %s", said)
	}
	if _, err := os.Stat(c.i.canary()); err == nil {
		return errors.New("a text was run on the controller")
	}
	return nil
}
