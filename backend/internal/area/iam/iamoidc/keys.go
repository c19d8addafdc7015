package iamoidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/go-jose/go-jose/v4"
)

// mostKeys limits how many keys a provider publishes: a token without a key id is tried with each.
const mostKeys = 100

// keys are what a provider signs with, as it published them last. They are as old as its description at most.
type keys struct {
	mu   sync.Mutex
	last []jose.JSONWebKey
}

func (k *keys) known() []jose.JSONWebKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

func (k *keys) keep(read []jose.JSONWebKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = read
}

// keysOf verifies the token of one login, with the requests of that login. It is an oidc.KeySet.
type keysOf struct {
	*keys
	client *http.Client
	url    string
}

// VerifySignature tries the known keys. Where none has signed the token, the provider may have changed its keys: they are read
// anew, once.
func (k keysOf) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	var allowed []jose.SignatureAlgorithm
	for _, name := range algorithms() {
		allowed = append(allowed, jose.SignatureAlgorithm(name))
	}
	signed, err := jose.ParseSigned(token, allowed)
	if err != nil {
		return nil, fmt.Errorf("parse the token: %w", err)
	}
	if len(signed.Signatures) != 1 {
		return nil, errors.New("the token has not one signature")
	}
	if payload, ok := verified(signed, k.known()); ok {
		return payload, nil
	}
	read, err := k.read(ctx)
	if err != nil {
		return nil, err
	}
	k.keep(read)
	if payload, ok := verified(signed, read); ok {
		return payload, nil
	}
	return nil, errors.New("no key of the provider has signed it")
}

// verified is what a token says, if one of the keys that it may mean has signed it.
func verified(signed *jose.JSONWebSignature, all []jose.JSONWebKey) ([]byte, bool) {
	id := signed.Signatures[0].Header.KeyID
	for i := range all {
		if id != "" && all[i].KeyID != id {
			continue
		}
		if payload, err := signed.Verify(&all[i]); err == nil {
			return payload, true
		}
	}
	return nil, false
}

// read asks the provider for its keys. One that is not understood is left out: a provider may have keys for other purposes.
func (k keysOf) read(ctx context.Context) ([]jose.JSONWebKey, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return nil, fmt.Errorf("ask for the keys: %w", err)
	}
	answer, err := k.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask for the keys: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the keys were answered with status %d", answer.StatusCode)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, errors.New("the keys are no JSON Web Key Set")
	}
	if len(set.Keys) > mostKeys {
		return nil, fmt.Errorf("the provider publishes more than %d keys", mostKeys)
	}
	var all []jose.JSONWebKey
	for _, one := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(one, &key) == nil && key.Valid() && (key.Use == "" || key.Use == "sig") {
			all = append(all, key)
		}
	}
	return all, nil
}
