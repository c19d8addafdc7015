package kubework

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/work"
)

// member is what a control plane says of a member of etcd.
type member struct {
	Name    string   `json:"name"` // "" of one that has never started
	Peers   []string `json:"peers"`
	Learner bool     `json:"learner"`
	Healthy bool     `json:"healthy"`
	Why     string   `json:"why"`     // it is not healthy
	Size    int64    `json:"size"`    // 0: it did not answer
	Applied int64    `json:"applied"` // index of the last entry that its data has
}

// isNode tells whether it is the member on a node: by its name, or by its address if it has never started.
func (m member) isNode(n kube.Node) bool {
	return m.Name == n.Name || m.Name == "" && slices.ContainsFunc(m.Peers, func(url string) bool { return strings.Contains(url, "//"+n.Address+":") })
}

// etcd asks a control plane for the members of etcd, each of which is asked how it is.
func (s steps) etcd(ctx context.Context, a *work.Attempt, speaker kube.Node) ([]member, error) {
	answer, err := s.Play(ctx, a, Play{Host: speaker.HostID, Playbook: kube.EtcdPlaybook, File: mainFile, Vars: etcdVars{Node: speaker.Name}})
	if err != nil {
		return nil, err
	}
	var said struct {
		Members []member `json:"members"`
	}
	if err := json.Unmarshal(answer, &said); err != nil || len(said.Members) == 0 {
		return nil, &work.Error{Code: "host_answer", Message: fmt.Sprintf("The host %s named no members of etcd.", speaker.Name)}
	}
	return said.Members, nil
}

// etcdWell is an error that says which member of etcd is not well; nil if all are.
func etcdWell(members []member) error {
	for _, m := range members {
		if !m.Healthy {
			return work.NotYet(readyPause, fmt.Sprintf("the member %s of etcd is not well: %s", m.Name, m.Why))
		}
	}
	return nil
}

// members joins control planes, one after the other. etcd is asked before each: it may have to decide without the new one.
func (s joinSteps) members(ctx context.Context, a *work.Attempt) error {
	w, client, err := s.loadOpen(ctx, a)
	if err != nil {
		return err
	}
	defer client.Close()
	for _, n := range w.nodesOfRole(kube.ControlPlane) {
		if n.State != kube.NodePrepared {
			continue
		}
		if err := s.joinMember(ctx, a, client, w, n); err != nil {
			return err
		}
	}
	return nil
}

func (s joinSteps) joinMember(ctx context.Context, a *work.Attempt, client *kubeapi.Client, w world, n kube.Node) error {
	speaker, err := w.speaker()
	if err != nil {
		return err
	}
	members, err := s.etcd(ctx, a, speaker)
	if err != nil {
		return err
	}
	if at := slices.IndexFunc(members, func(m member) bool { return m.isNode(n) }); at >= 0 {
		joined, err := hasJoined(ctx, client, members[at], n)
		if err != nil {
			return err
		}
		if joined {
			a.Log.Note("%s has joined already. Its attempt was cut before it was recorded.", n.Name)
			return s.recordJoin(ctx, a, client, n)
		}
		a.Log.Note("An attempt before left %s as a member of etcd. It goes first.", n.Name)
		if err := s.removeMember(ctx, a, speaker, n); err != nil {
			return err
		}
		members = slices.DeleteFunc(members, func(m member) bool { return m.isNode(n) })
	}
	if err := etcdWell(members); err != nil {
		return err
	}
	hash, err := caHash(w.CA)
	if err != nil {
		return err
	}
	// What an attempt before uploaded goes, and what this one uploads as well: the key is good for this join alone.
	if err := client.DeleteUploadedCertificates(ctx); err != nil {
		return notYet(ctx, apiPause, err)
	}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if err := client.DeleteUploadedCertificates(clean); err != nil {
			a.Log.Note("The uploaded certificates are still there; the cluster deletes them within two hours: %s.", err)
		}
	}()
	key, err := newCertificateKey()
	if err != nil {
		return err
	}
	_, err = s.Play(ctx, a, Play{Host: speaker.HostID, Playbook: kube.JoinPlaybook, File: uploadFile, Vars: w.uploadVars(speaker, key), Secrets: []string{key}})
	if err != nil {
		return err
	}
	return s.join(ctx, a, client, n, func(token string) Play {
		return Play{Host: n.HostID, Playbook: kube.JoinPlaybook, File: memberFile, Vars: w.memberVars(n, token, hash, key), Secrets: []string{key}}
	})
}

// hasJoined tells whether a join that was cut off had come to its end: the member votes and is well, and the cluster has the node
// as a control plane, which is the last that kubeadm does.
func hasJoined(ctx context.Context, client *kubeapi.Client, m member, n kube.Node) (bool, error) {
	if m.Name != n.Name || m.Learner || !m.Healthy {
		return false, nil
	}
	found, err := client.Nodes(ctx)
	if err != nil {
		return false, notYet(ctx, apiPause, err)
	}
	return slices.ContainsFunc(found, func(known kubeapi.Node) bool { return known.Name == n.Name && known.ControlPlane }), nil
}

// recordJoin records a join that is done, and deletes what it needed.
func (s joinSteps) recordJoin(ctx context.Context, a *work.Attempt, client *kubeapi.Client, n kube.Node) error {
	if err := client.DeleteUploadedCertificates(ctx); err != nil {
		return notYet(ctx, apiPause, err)
	}
	if n.TokenID != "" {
		if err := client.DeleteToken(ctx, n.TokenID); err != nil {
			return notYet(ctx, apiPause, err)
		}
	}
	return s.record(ctx, a, func(tx *db.Tx) error {
		if err := kube.SetToken(ctx, tx, n.ID, ""); err != nil {
			return err
		}
		return kube.MoveNode(ctx, tx, n.ID, kube.NodeHasJoined, "")
	})
}

// newCertificateKey draws the key that the keys of the cluster are encrypted with on their way to a new control plane.
func newCertificateKey() (string, error) {
	var key [32]byte
	if _, err := rand.Read(key[:]); err != nil {
		return "", fmt.Errorf("draw a certificate key: %w", err)
	}
	return hex.EncodeToString(key[:]), nil
}

// removeMember takes a node out of etcd, through another control plane. One that is no member is out.
func (s steps) removeMember(ctx context.Context, a *work.Attempt, speaker, n kube.Node) error {
	vars := etcdRemoveVars{Member: n.Name, Address: n.Address}
	_, err := s.Play(ctx, a, Play{Host: speaker.HostID, Playbook: kube.EtcdPlaybook, File: removeFile, Vars: vars})
	return err
}
