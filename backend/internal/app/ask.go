package app

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
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
		key, err := b.db.OrganizationKey(ctx, h.OrganizationID)
		if err != nil {
			return "", fmt.Errorf("load the key of the organization: %w", err)
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
