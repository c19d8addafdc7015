package kubework

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/work"
)

// joinSteps are the steps by which a cluster comes to be and gets nodes.
type joinSteps struct{ steps }

func (s joinSteps) prepare(ctx context.Context, a *work.Attempt) error {
	w, err := s.load(ctx, a)
	if err != nil {
		return err
	}
	for _, n := range w.nodes {
		if n.State != kube.NodePending {
			continue
		}
		a.Log.Note("Preparing %s.", n.Name)
		if _, err := s.Play(ctx, a, Play{Host: n.HostID, Playbook: kube.PreparePlaybook, File: mainFile, Vars: w.prepareVars(n)}); err != nil {
			return err
		}
		if err := s.move(ctx, a, n, kube.NodeWasPrepared); err != nil {
			return err
		}
	}
	return nil
}

// namePause is between two looks at a name.
const namePause = 5 * time.Second

// dnsName waits for the name of the cluster if its endpoint has it: a control plane asks for it while it is made.
func (s joinSteps) dnsName(ctx context.Context, a *work.Attempt) error {
	w, err := s.load(ctx, a)
	if err != nil {
		return err
	}
	name, live, err := s.NameOf(ctx, a.DB.Reader, w.ID)
	if err != nil {
		return fmt.Errorf("look for the name of the cluster: %w", err)
	}
	if live || strings.TrimSuffix(name, ".") != w.endpointHost() {
		return nil
	}
	return work.NotYet(namePause, fmt.Sprintf("The name servers do not have all addresses of %s yet. See the record set and the condition named of the cluster.", w.endpointHost()))
}

func (s joinSteps) controlPlane(ctx context.Context, a *work.Attempt) error {
	w, err := s.load(ctx, a)
	if err != nil {
		return err
	}
	n := w.nodes[0]
	if w.CA != "" && n.State != kube.NodePrepared {
		return nil
	}
	request, err := adminRequest(s.Keys, w.Cluster)
	if err != nil {
		return err
	}
	name, _, err := s.NameOf(ctx, a.DB.Reader, w.ID)
	if err != nil {
		return fmt.Errorf("look for the name of the cluster: %w", err)
	}
	answer, err := s.Play(ctx, a, Play{Host: n.HostID, Playbook: kube.InitPlaybook, File: mainFile, Vars: w.initVars(n, strings.TrimSuffix(name, "."), request)})
	if err != nil {
		return err
	}
	made, err := adminAnswer(s.Keys, w.Cluster, answer)
	if err != nil {
		return &work.Error{Code: "host_answer", Message: fmt.Sprintf("The host %s answered what can't be used: %s.", n.Name, err)}
	}
	return s.record(ctx, a, func(tx *db.Tx) error {
		if err := kube.SetAccess(ctx, tx, w.ID, made.CA, made.Certificate); err != nil {
			return err
		}
		return kube.MoveNode(ctx, tx, n.ID, kube.NodeHasJoined, "")
	})
}

func (s joinSteps) api(ctx context.Context, a *work.Attempt) error {
	w, client, err := s.loadOpen(ctx, a)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.Ready(ctx); err != nil {
		return notYet(ctx, apiPause, err)
	}
	if _, err := s.keepBindings(ctx, client, w.Cluster, false); err != nil {
		return notYet(ctx, apiPause, err)
	}
	return nil
}

func (s joinSteps) workers(ctx context.Context, a *work.Attempt) error {
	w, client, err := s.loadOpen(ctx, a)
	if err != nil {
		return err
	}
	defer client.Close()
	hash, err := caHash(w.CA)
	if err != nil {
		return err
	}
	for _, n := range w.nodesOfRole(kube.Worker) {
		if n.State != kube.NodePrepared {
			continue
		}
		err := s.join(ctx, a, client, n, func(token string) Play {
			return Play{Host: n.HostID, Playbook: kube.JoinPlaybook, File: mainFile, Vars: w.joinVars(n, token, hash)}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tokenValid is how long a token may be used. It is deleted as soon as the node has joined.
const tokenValid = 30 * time.Minute

// join joins one node with a token of its own. Its id is in the row before the token is made: an attempt that is cut leaves
// at most one, which the next attempt deletes. The secret is in no row.
func (s joinSteps) join(ctx context.Context, a *work.Attempt, client *kubeapi.Client, n kube.Node, play func(token string) Play) error {
	if n.TokenID != "" {
		if err := client.DeleteToken(ctx, n.TokenID); err != nil {
			return notYet(ctx, apiPause, err)
		}
	}
	id, secret, err := newToken()
	if err != nil {
		return err
	}
	if err := s.record(ctx, a, func(tx *db.Tx) error { return kube.SetToken(ctx, tx, n.ID, id) }); err != nil {
		return err
	}
	if err := client.CreateToken(ctx, id, secret, time.Now().Add(tokenValid)); err != nil {
		return notYet(ctx, apiPause, err)
	}
	a.Log.Note("Joining %s.", n.Name)
	joins := play(id + "." + secret)
	joins.Secrets = append(joins.Secrets, secret, id+"."+secret)
	_, played := s.Play(ctx, a, joins)
	// Also after a failure or a cancel: nobody needs the token any more.
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	deleted := client.DeleteToken(clean, id)
	if played != nil {
		return played
	}
	return s.record(ctx, a, func(tx *db.Tx) error {
		if deleted == nil {
			if err := kube.SetToken(ctx, tx, n.ID, ""); err != nil {
				return err
			}
		}
		return kube.MoveNode(ctx, tx, n.ID, kube.NodeHasJoined, "")
	})
}

const tokenLetters = "abcdefghijklmnopqrstuvwxyz0123456789"

// newToken draws the two parts of a bootstrap token.
func newToken() (id, secret string, err error) {
	var out [22]byte
	for i := range out {
		for {
			var b [1]byte
			if _, err := rand.Read(b[:]); err != nil {
				return "", "", fmt.Errorf("draw a token: %w", err)
			}
			if int(b[0]) < 256-256%len(tokenLetters) { // or some letters would come more often
				out[i] = tokenLetters[int(b[0])%len(tokenLetters)]
				break
			}
		}
	}
	return string(out[:6]), string(out[6:]), nil
}

// caHash pins the authority of a cluster for a node that joins: the SHA-256 of its public key.
func caHash(ca string) (string, error) {
	block, _ := pem.Decode([]byte(ca))
	if block == nil {
		return "", errors.New("the cluster has no readable authority")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("read the authority of the cluster: %w", err)
	}
	sum := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

func (s joinSteps) routes(ctx context.Context, a *work.Attempt) error {
	w, err := s.load(ctx, a)
	if err != nil || len(w.nodes) == 1 && !hasStep(a, kube.RemoveStep) {
		return err // an only node has routes to unset at most, after a job that took another away
	}
	return s.tellRoutes(ctx, a, w)
}

func (s joinSteps) ready(ctx context.Context, a *work.Attempt) error {
	w, client, err := s.loadOpen(ctx, a)
	if err != nil {
		return err
	}
	defer client.Close()
	found, err := client.Nodes(ctx)
	if err != nil {
		return notYet(ctx, readyPause, err)
	}
	var missing []string
	for _, n := range w.nodes {
		if n.State != kube.NodeJoined { // what was there before is its policy's to judge
			continue
		}
		if why := whyNotReady(found, n.Name); why != "" {
			missing = append(missing, n.Name+": "+why)
			continue
		}
		if err := s.move(ctx, a, n, kube.NodeIsReady); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		return work.NotYet(readyPause, fmt.Sprintf("%d of %d nodes are not ready; %s", len(missing), len(w.nodes), missing[0]))
	}
	a.Outcome("The cluster answers at %s. It has %d nodes.", w.Endpoint, len(w.nodes))
	return nil
}
