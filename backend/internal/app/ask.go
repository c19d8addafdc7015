package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// asks asks hosts over SSH whether they are there, over connections that are kept until stop is done.
func (b *Backend) asks(stop context.Context, targets domain.TargetPolicy) func(ctx context.Context, host uuid.UUID) (why string, err error) {
	connections := &ansible.Connections{}
	context.AfterFunc(stop, connections.Close)
	return func(ctx context.Context, host uuid.UUID) (string, error) {
		h, err := b.db.Host(ctx, host)
		if err != nil {
			return "", fmt.Errorf("load host %s: %w", host, err)
		}
		key, err := b.db.KeyOfHost(ctx, h.ID)
		if err != nil {
			return "", fmt.Errorf("load the key of host %s: %w", h.Name, err)
		}
		private, err := b.keyset.Open(key.PrivateSealed, h.OrganizationID.String())
		if err != nil {
			return "", fmt.Errorf("open the organization's key: %w", err)
		}
		return inWords(reach(ctx, connections, h, private, targets)), nil
	}
}

func reach(ctx context.Context, connections *ansible.Connections, h store.Host, private []byte, targets domain.TargetPolicy) error {
	address, err := hostAddress(ctx, h.Address, targets)
	if err != nil {
		return err
	}
	return connections.Answers(ctx, h.ID.String(), &ansible.Host{
		Name: h.Name, Address: address, Port: h.Port, User: h.AdminUser, PrivateKey: private, HostKeys: []string{h.HostKey},
	})
}

// logsIn logs in to hosts over SSH with a given key, over connections of their own.
func (b *Backend) logsIn(targets domain.TargetPolicy) func(ctx context.Context, host uuid.UUID, private []byte) error {
	return func(ctx context.Context, host uuid.UUID, private []byte) error {
		h, err := b.db.Host(ctx, host)
		if err != nil {
			return fmt.Errorf("load host %s: %w", host, err)
		}
		return logIn(ctx, h, private, targets)
	}
}

// loginWithin bounds a login: a busy host's sshd takes its time.
const loginWithin = 30 * time.Second

func logIn(ctx context.Context, h store.Host, private []byte, targets domain.TargetPolicy) error {
	ctx, cancel := context.WithTimeout(ctx, loginWithin)
	defer cancel()
	address, err := hostAddress(ctx, h.Address, targets)
	if err != nil {
		return err
	}
	err = ansible.LogIn(ctx, &ansible.Host{Name: h.Name, Address: address, Port: h.Port, User: h.AdminUser, PrivateKey: private, HostKeys: []string{h.HostKey}})
	if errors.Is(err, ansible.ErrLoginRefused) {
		return iam.ErrLoginRefused
	}
	return err
}

func inWords(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// hostAddress is an address of a host that may be connected to.
func hostAddress(ctx context.Context, name string, targets domain.TargetPolicy) (string, error) {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return "", fmt.Errorf("the name %s can't be resolved", name)
	}
	denied := errors.New("it has no address")
	for _, a := range found {
		if denied = domain.CheckTarget(a, targets); denied == nil {
			return a.Unmap().String(), nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, denied)
}
