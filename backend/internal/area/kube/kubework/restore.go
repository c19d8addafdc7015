package kubework

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/work"
)

// sentAPlay is how many parts one play sends: each is a variable of the play.
const sentAPlay = 4

// sentPart is a part of a snapshot on its way to a host.
type sentPart struct {
	Number  int64  `json:"number"`
	Content string `json:"content"` // base64; "" asks which parts are there
}

// sendVars are the variables of the play that sends parts.
type sendVars struct {
	Node  string     `json:"kube_etcd_receive_node"`
	ID    uuid.UUID  `json:"kube_etcd_receive_id"`
	Parts []sentPart `json:"kube_etcd_receive_parts"`
}

// restoreVars are the variables of the play that restores.
type restoreVars struct {
	Node    string    `json:"kube_etcd_restore_node"`
	Address string    `json:"kube_etcd_restore_address"`
	ID      uuid.UUID `json:"kube_etcd_restore_id"`
	Size    int64     `json:"kube_etcd_restore_size"`
	SHA256  string    `json:"kube_etcd_restore_sha256"`
	Count   int64     `json:"kube_etcd_restore_count"`
}

// restartVars are the variables of the play that restarts the kubelet of a node.
type restartVars struct {
	Node string `json:"kube_etcd_restart_node"`
}

// restored is what the steps of a restore look at.
type restored struct {
	world
	plane    kube.Node
	snapshot kube.Snapshot
}

func (s steps) loadRestore(ctx context.Context, a *work.Attempt) (r restored, err error) {
	if r.snapshot, err = s.heldSnapshot(ctx, a); err != nil {
		return r, err
	}
	if r.snapshot.TakenAt == nil {
		return r, goneSnapshot
	}
	if r.world, err = s.load(ctx, a); err != nil {
		return r, err
	}
	planes := r.nodesOfRole(kube.ControlPlane)
	if len(planes) != 1 {
		return r, &work.Error{Code: "restore_control_planes", Message: fmt.Sprintf("The cluster has %d control planes. A snapshot is restored only where there is one.", len(planes))}
	}
	r.plane = planes[0]
	return r, nil
}

// sendParts sends the parts that the control plane has not yet. Nothing stops there.
func (s steps) sendParts(ctx context.Context, a *work.Attempt) error {
	r, err := s.loadRestore(ctx, a)
	if err != nil {
		return err
	}
	cipher, err := r.snapshot.Cipher(s.Keys)
	if err != nil {
		return err
	}
	there, err := s.send(ctx, a, r, []sentPart{{}})
	for err == nil {
		var batch []sentPart
		for number := int64(0); number < r.snapshot.Parts && len(batch) < sentAPlay; number++ {
			if slices.Contains(there, number) {
				continue
			}
			sealed, err := kube.Part(ctx, a.DB.Reader, r.snapshot.ID, number)
			if errors.Is(err, fault.ErrNotFound) {
				return &work.Error{Code: "snapshot_differs", Message: fmt.Sprintf("Part %d of the snapshot is missing. Nothing was changed.", number), NextStep: "Restore another snapshot."}
			}
			if err != nil {
				return fmt.Errorf("read part %d of a snapshot: %w", number, err)
			}
			plain, err := cipher.Open(number, sealed)
			if err != nil {
				return &work.Error{Code: "snapshot_differs", Message: fmt.Sprintf("Of the snapshot, %s. Nothing was changed.", err), NextStep: "Restore another snapshot."}
			}
			batch = append(batch, sentPart{number, base64.StdEncoding.EncodeToString(plain)})
		}
		if len(batch) == 0 {
			return nil
		}
		before := len(there)
		if there, err = s.send(ctx, a, r, batch); err == nil && len(there) <= before {
			return &work.Error{Code: "host_answer", Message: fmt.Sprintf("The host %s did not keep a part of the snapshot.", r.plane.Name)}
		}
	}
	return err
}

// send sends some parts, and returns the numbers of all that are there then.
func (s steps) send(ctx context.Context, a *work.Attempt, r restored, parts []sentPart) ([]int64, error) {
	answer, err := s.Play(ctx, a, Play{
		Host: r.plane.HostID, Playbook: kube.EtcdPlaybook, File: receiveFile, Vars: sendVars{Node: r.plane.Name, ID: r.snapshot.ID, Parts: parts},
	})
	if err != nil {
		return nil, err
	}
	var said struct {
		Parts []int64 `json:"parts"`
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return nil, &work.Error{Code: "host_answer", Message: fmt.Sprintf("The host %s did not tell which parts it has.", r.plane.Name)}
	}
	return said.Parts, nil
}

// restoreData has the control plane put the snapshot in the place of its data. A cut play goes on where it stood.
func (s steps) restoreData(ctx context.Context, a *work.Attempt) error {
	r, err := s.loadRestore(ctx, a)
	if err != nil {
		return err
	}
	a.Log.Note("Restoring the snapshot of %s on %s.", r.snapshot.BegunAt.UTC().Format("2006-01-02 15:04:05"), r.plane.Name)
	_, err = s.Play(ctx, a, Play{Host: r.plane.HostID, Playbook: kube.EtcdPlaybook, File: restoreFile, Vars: restoreVars{
		Node: r.plane.Name, Address: r.plane.Address, ID: r.snapshot.ID, Size: r.snapshot.Size, SHA256: r.snapshot.SHA256, Count: r.snapshot.Parts,
	}})
	return err
}

// restartKubelets: a kubelet that registered its node after the snapshot does so again only when it starts.
func (s steps) restartKubelets(ctx context.Context, a *work.Attempt) error {
	w, err := s.load(ctx, a)
	if err != nil {
		return err
	}
	for _, n := range w.reached() {
		if _, err := s.Play(ctx, a, Play{Host: n.HostID, Playbook: kube.EtcdPlaybook, File: restartFile, Vars: restartVars{Node: n.Name}}); err != nil {
			return err
		}
	}
	return nil
}

// nodesBack waits until every node is ready that can be.
func (s steps) nodesBack(ctx context.Context, a *work.Attempt) error {
	w, client, err := s.loadOpen(ctx, a)
	if err != nil {
		return err
	}
	defer client.Close()
	found, err := client.Nodes(ctx)
	if err != nil {
		return notYet(ctx, readyPause, err)
	}
	for _, n := range w.reached() {
		if why := whyNotReady(found, n.Name); why != "" {
			return work.NotYet(readyPause, n.Name+": "+why)
		}
	}
	a.Outcome("The cluster is as it was when the snapshot was taken. Its %d nodes are ready.", len(w.reached()))
	return nil
}
