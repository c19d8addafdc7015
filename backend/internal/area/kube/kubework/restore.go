package kubework

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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

// The steps on a host, as the module calls them.
const (
	doCheck  = "checked"
	doMake   = "made"
	doStop   = "stopped"
	doSwap   = "swapped"
	doStart  = "started"
	doSettle = "settled"
	doFinish = "finished"
	doBack   = "back"
)

// restoredMember is a member that etcd has after a restore.
type restoredMember struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// restoreVars are the variables of the play that does one step of a restore on a host.
type restoreVars struct {
	Do      string           `json:"kube_etcd_restore_do"`
	Node    string           `json:"kube_etcd_restore_node"`
	ID      uuid.UUID        `json:"kube_etcd_restore_id"` // of the job: the data of two restores of one snapshot never meets
	Size    int64            `json:"kube_etcd_restore_size"`
	SHA256  string           `json:"kube_etcd_restore_sha256"`
	Count   int64            `json:"kube_etcd_restore_count"`
	Members []restoredMember `json:"kube_etcd_restore_members"`
}

// restartVars are the variables of the play that restarts the kubelet of a node.
type restartVars struct {
	Node string `json:"kube_etcd_restart_node"`
}

// restoreSteps are the steps by which etcd gets the data of a snapshot.
type restoreSteps struct{ snapshotSteps }

// restored is what the steps of a restore look at.
type restored struct {
	world
	id       uuid.UUID   // of the restore
	planes   []kube.Node // that get the data
	gone     []kube.Node // that are given up
	snapshot kube.Snapshot
}

func (s restoreSteps) loadRestore(ctx context.Context, a *work.Attempt) (r restored, err error) {
	r.id = a.ID
	if r.snapshot, err = s.heldSnapshot(ctx, a); err != nil {
		return r, err
	}
	if r.snapshot.TakenAt == nil {
		return r, goneSnapshot
	}
	if r.world, err = s.load(ctx, a); err != nil {
		return r, err
	}
	if r.planes, r.gone, err = r.givenUp(a); err != nil {
		return r, err
	}
	for _, n := range r.planes {
		if !n.InCluster() || n.HostState == kube.HostLost {
			return r, &work.Error{Code: "restore_host", Message: fmt.Sprintf("The control plane %s is %s and its host is %s. A restore needs all that are not given up.", n.Name, n.State, n.HostState)}
		}
	}
	return r, nil
}

// do has a control plane do one step.
func (s restoreSteps) do(ctx context.Context, a *work.Attempt, r restored, n kube.Node, step string) (json.RawMessage, error) {
	vars := restoreVars{Do: step, Node: n.Name, ID: r.id, Size: r.snapshot.Size, SHA256: r.snapshot.SHA256, Count: r.snapshot.Parts}
	for _, member := range r.planes {
		vars.Members = append(vars.Members, restoredMember{member.Name, member.Address})
	}
	return s.Play(ctx, a, Play{Host: n.HostID, Playbook: kube.EtcdPlaybook, File: restoreFile, Vars: vars})
}

// onPlanes has every control plane do one step after the other: none begins a step before all have done the one before it.
func (s restoreSteps) onPlanes(ctx context.Context, a *work.Attempt, r restored, all ...string) error {
	for _, step := range all {
		for _, n := range r.planes {
			if _, err := s.do(ctx, a, r, n, step); err != nil {
				return err
			}
		}
	}
	return nil
}

// restoring makes the handler of a step that does some on every control plane.
func (s restoreSteps) restoring(all ...string) work.Handler {
	return func(ctx context.Context, a *work.Attempt) error {
		r, err := s.loadRestore(ctx, a)
		if err != nil {
			return err
		}
		return s.onPlanes(ctx, a, r, all...)
	}
}

// etcdOf is what a control plane tells of its etcd.
type etcdOf struct {
	Image string `json:"image"` // "" if its manifest names none
	Etcd  string `json:"etcd"`  // version that answers; "" for none
	Util  string `json:"etcdutl"`
}

// checkPlanes asks every control plane whether a restore can work there. An etcd that does not answer is no obstacle: it may be the reason.
func (s restoreSteps) checkPlanes(ctx context.Context, a *work.Attempt) error {
	r, err := s.loadRestore(ctx, a)
	if err != nil {
		return err
	}
	found := make([]etcdOf, len(r.planes))
	for i, n := range r.planes {
		answer, err := s.do(ctx, a, r, n, doCheck)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(answer, &found[i]); err != nil {
			return &work.Error{Code: "host_answer", Message: fmt.Sprintf("The host %s did not tell the version of its etcd.", n.Name)}
		}
	}
	if why := differs(r.planes, found); why != "" {
		return &work.Error{Code: "restore_versions", Message: why + " Nothing was changed.", NextStep: "Bring the control planes to one version of etcd, then retry the job."}
	}
	return nil
}

// differs says which versions of control planes do not fit together; "" if all do.
func differs(planes []kube.Node, found []etcdOf) string {
	minor := func(version string) string { return version[:max(strings.LastIndexByte(version, '.'), 0)] }
	running := 0 // the first whose etcd answers
	for i, f := range found {
		if found[running].Etcd == "" {
			running = i
		}
		name, first := planes[i].Name, planes[0].Name
		switch {
		case f.Util == "":
			return fmt.Sprintf("%s did not tell the version of its etcdutl.", name)
		case f.Image != found[0].Image:
			return fmt.Sprintf("%s has the image %s of etcd, and %s has %s.", name, f.Image, first, found[0].Image)
		case f.Etcd != "" && f.Etcd != found[running].Etcd:
			return fmt.Sprintf("%s runs etcd %s, and %s runs %s.", name, f.Etcd, planes[running].Name, found[running].Etcd)
		case f.Util != found[0].Util:
			return fmt.Sprintf("%s has etcdutl %s, and %s has %s.", name, f.Util, first, found[0].Util)
		case f.Etcd != "" && minor(f.Etcd) != minor(f.Util):
			return fmt.Sprintf("%s runs etcd %s, and has etcdutl %s.", name, f.Etcd, f.Util)
		}
	}
	return ""
}

// sendParts sends to every control plane the parts that it has not yet. Nothing stops there.
func (s restoreSteps) sendParts(ctx context.Context, a *work.Attempt) error {
	r, err := s.loadRestore(ctx, a)
	if err != nil {
		return err
	}
	cipher, err := r.snapshot.Cipher(s.Keys)
	if err != nil {
		return err
	}
	for _, n := range r.planes {
		if err := s.sendTo(ctx, a, r, n, cipher); err != nil {
			return err
		}
	}
	return nil
}

func (s restoreSteps) sendTo(ctx context.Context, a *work.Attempt, r restored, n kube.Node, cipher kube.Cipher) error {
	there, err := s.send(ctx, a, r, n, []sentPart{{}})
	for err == nil {
		var batch []sentPart
		for number := int64(0); number < r.snapshot.Parts && len(batch) < sentAPlay; number++ {
			if slices.Contains(there, number) {
				continue
			}
			plain, err := openPart(ctx, a, r.snapshot, cipher, number)
			if err != nil {
				return err
			}
			batch = append(batch, sentPart{number, base64.StdEncoding.EncodeToString(plain)})
		}
		if len(batch) == 0 {
			return nil
		}
		before := len(there)
		if there, err = s.send(ctx, a, r, n, batch); err == nil && len(there) <= before {
			return &work.Error{Code: "host_answer", Message: fmt.Sprintf("The host %s did not keep a part of the snapshot.", n.Name)}
		}
	}
	return err
}

func openPart(ctx context.Context, a *work.Attempt, of kube.Snapshot, cipher kube.Cipher, number int64) ([]byte, error) {
	sealed, err := kube.Part(ctx, a.DB.Reader, of.ID, number)
	if errors.Is(err, fault.ErrNotFound) {
		return nil, &work.Error{Code: "snapshot_differs", Message: fmt.Sprintf("Part %d of the snapshot is missing. Nothing was changed.", number), NextStep: "Restore another snapshot."}
	}
	if err != nil {
		return nil, fmt.Errorf("read part %d of a snapshot: %w", number, err)
	}
	plain, err := cipher.Open(number, sealed)
	if err != nil {
		return nil, &work.Error{Code: "snapshot_differs", Message: fmt.Sprintf("Of the snapshot, %s. Nothing was changed.", err), NextStep: "Restore another snapshot."}
	}
	return plain, nil
}

// send sends some parts, and returns the numbers of all that are there then.
func (s restoreSteps) send(ctx context.Context, a *work.Attempt, r restored, n kube.Node, parts []sentPart) ([]int64, error) {
	answer, err := s.Play(ctx, a, Play{Host: n.HostID, Playbook: kube.EtcdPlaybook, File: receiveFile, Vars: sendVars{Node: n.Name, ID: r.id, Parts: parts}})
	if err != nil {
		return nil, err
	}
	var said struct {
		Parts []int64 `json:"parts"`
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return nil, &work.Error{Code: "host_answer", Message: fmt.Sprintf("The host %s did not tell which parts it has.", n.Name)}
	}
	return said.Parts, nil
}

// exchange stops the static pods of every control plane, and only then puts the new data in its place. If one can't, all go back to what they
// had. A cut or cancelled attempt leaves them stopped, and the next one goes on.
func (s restoreSteps) exchange(ctx context.Context, a *work.Attempt) error {
	r, err := s.loadRestore(ctx, a)
	if err != nil {
		return err
	}
	a.Log.Note("Restoring the snapshot of %s on %s.", r.snapshot.BegunAt.UTC().Format("2006-01-02 15:04:05"), strings.Join(r.names(), ", "))
	err = s.onPlanes(ctx, a, r, doStop, doSwap)
	if err == nil || work.Waits(err) || ctx.Err() != nil {
		return err
	}
	return s.takeBack(ctx, a, r, err)
}

func (r restored) names() (all []string) {
	for _, n := range r.planes {
		all = append(all, n.Name)
	}
	return all
}

// backWithin bounds the wait for a host that another job holds while a restore is taken back.
const backWithin = 2 * time.Minute

// takeBack has every control plane go back to what it had, and returns why.
func (s restoreSteps) takeBack(ctx context.Context, a *work.Attempt, r restored, why error) error {
	a.Log.Note("Going back to what etcd had: %s.", strings.TrimSuffix(why.Error(), "."))
	var stopped []string
	for _, n := range r.planes {
		_, err := s.do(ctx, a, r, n, doBack)
		for ended := time.Now().Add(backWithin); err != nil && work.Waits(err) && time.Now().Before(ended); _, err = s.do(ctx, a, r, n, doBack) {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(apiPause):
			}
		}
		if err != nil {
			a.Log.Note("%s did not go back: %s.", n.Name, strings.TrimSuffix(err.Error(), "."))
			stopped = append(stopped, n.Name)
		}
	}
	said := "The cluster is as it was before."
	if len(stopped) > 0 {
		said = fmt.Sprintf("The other control planes are as they were. On %s the static pods may be stopped.", strings.Join(stopped, ", "))
	}
	var known *work.Error
	if !errors.As(why, &known) {
		return why
	}
	told := *known
	told.Message = strings.TrimSuffix(told.Message, ".") + ". " + said
	return &told
}

// ofOlderRelease refuses to go on with a job that an older release began: its plays had other steps.
func (s restoreSteps) ofOlderRelease(context.Context, *work.Attempt) error {
	return &work.Error{Code: "older_release", Message: "An older release of Kloigos began this restore, and this one has other steps.", NextStep: "Ask for the restore again. It starts what the older one left stopped."}
}

// restartKubelets: a kubelet that registered its node after the snapshot does so again only when it starts.
func (s restoreSteps) restartKubelets(ctx context.Context, a *work.Attempt) error {
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
func (s restoreSteps) nodesBack(ctx context.Context, a *work.Attempt) error {
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
	a.Outcome("The cluster is as it was when the snapshot was taken, with %d control planes. Its %d nodes are ready.", len(w.nodesOfRole(kube.ControlPlane)), len(w.reached()))
	return nil
}
