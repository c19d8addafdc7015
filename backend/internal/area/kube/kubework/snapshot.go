package kubework

import (
	"compress/zlib"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
)

// partsAPlay is how many parts one play brings: a play may answer 32 MiB, and a part has 0.9 MiB on its way.
const partsAPlay = 20

// snapshotVars are the variables of the play that takes a snapshot.
type snapshotVars struct {
	Node string    `json:"kube_etcd_snapshot_node"`
	ID   uuid.UUID `json:"kube_etcd_snapshot_id"`
}

// partsVars are the variables of the play that sends parts of it.
type partsVars struct {
	Node    string    `json:"kube_etcd_parts_node"`
	ID      uuid.UUID `json:"kube_etcd_parts_id"`
	Numbers []int64   `json:"kube_etcd_parts_numbers"`
}

// forgetVars are the variables of the play that deletes snapshots on a host.
type forgetVars struct {
	Node string `json:"kube_etcd_forget_node"`
}

// snapshotSteps are the steps by which a snapshot of etcd is taken and kept.
type snapshotSteps struct{ steps }

// snapshotOf is the id of the snapshot that a job is about.
func snapshotOf(a *work.Attempt) (uuid.UUID, error) {
	var args kube.SnapshotArgs
	if err := a.Arguments(&args); err != nil || args.Snapshot == uuid.Nil {
		return uuid.Nil, fmt.Errorf("read the arguments of the job: %w", errors.Join(err, errors.New("they name a snapshot")))
	}
	return args.Snapshot, nil
}

// goneSnapshot is why a job can't go on whose snapshot was removed in between.
var goneSnapshot = &work.Error{Code: "snapshot_gone", Message: "What was taken is no longer here.", NextStep: "Ask for another snapshot."}

// heldSnapshot is the snapshot of a job that has taken it before.
func (s snapshotSteps) heldSnapshot(ctx context.Context, a *work.Attempt) (kube.Snapshot, error) {
	id, err := snapshotOf(a)
	if err != nil {
		return kube.Snapshot{}, err
	}
	found, err := kube.SnapshotByID(ctx, a.DB.Reader, id)
	if errors.Is(err, fault.ErrNotFound) {
		return found, goneSnapshot
	}
	return found, err
}

// takeSnapshot takes a snapshot on a control plane whose member of etcd is well. The row comes after the host has it: an attempt that is cut
// before takes another one, and the host deletes what it had.
func (s snapshotSteps) takeSnapshot(ctx context.Context, a *work.Attempt) error {
	id, err := snapshotOf(a)
	if err != nil {
		return err
	}
	w, err := s.load(ctx, a)
	if err != nil {
		return err
	}
	n, err := s.planeToTake(ctx, a, w)
	if err != nil {
		return err
	}
	a.Log.Note("Taking a snapshot on %s.", n.Name)
	begun := time.Now()
	answer, err := s.Play(ctx, a, Play{Host: n.HostID, Playbook: kube.EtcdPlaybook, File: snapshotFile, Vars: snapshotVars{Node: n.Name, ID: id}})
	if err != nil {
		return err
	}
	var said kube.TakenSnapshot
	if err := json.Unmarshal(answer, &said); err != nil {
		return &work.Error{Code: "host_answer", Message: fmt.Sprintf("The host %s did not tell what it took.", n.Name)}
	}
	if err := said.Check(); err != nil {
		return &work.Error{Code: "snapshot_refused", Message: fmt.Sprintf("The snapshot of %s can't be kept: %s.", n.Name, err)}
	}
	taken, err := kube.NewSnapshot(s.Keys, w.Cluster, id, n.Name, begun, said)
	if err != nil {
		return err
	}
	return s.record(ctx, a, func(tx *db.Tx) error { return kube.BeginSnapshot(ctx, tx, taken) })
}

// planeToTake is the control plane that a snapshot is taken on.
func (s snapshotSteps) planeToTake(ctx context.Context, a *work.Attempt, w world) (kube.Node, error) {
	var args kube.SnapshotArgs
	if err := a.Arguments(&args); err != nil {
		return kube.Node{}, fmt.Errorf("read the arguments of the job: %w", err)
	}
	if gone := kube.QuorumGone(w.nodes); args.Alone && len(gone) > 0 {
		return s.lastPlane(ctx, a, w)
	}
	return s.wellPlane(ctx, a, w)
}

// wellPlane is a control plane whose member of etcd is well, as another or it itself says.
func (s snapshotSteps) wellPlane(ctx context.Context, a *work.Attempt, w world) (kube.Node, error) {
	speaker, err := w.speaker()
	if err != nil {
		return kube.Node{}, err
	}
	members, err := s.etcd(ctx, a, speaker)
	if err != nil {
		return kube.Node{}, err
	}
	for _, n := range w.reached() {
		for _, m := range members {
			if n.Role == kube.ControlPlane && m.isNode(n) && m.Healthy && !m.Learner {
				return n, nil
			}
		}
	}
	return kube.Node{}, work.NotYet(readyPause, "no member of etcd is well on a control plane that can be reached")
}

// bringParts brings the parts that are not here yet, some with each play.
func (s snapshotSteps) bringParts(ctx context.Context, a *work.Attempt) error {
	taken, err := s.heldSnapshot(ctx, a)
	if err != nil {
		return err
	}
	n, err := s.nodeOf(ctx, a, taken)
	if err != nil {
		return err
	}
	cipher, err := taken.Cipher(s.Keys)
	if err != nil {
		return err
	}
	for {
		missing, err := missingParts(ctx, a.DB.Reader, taken)
		if err != nil || len(missing) == 0 {
			return err
		}
		vars := partsVars{Node: n.Name, ID: taken.ID, Numbers: missing[:min(partsAPlay, len(missing))]}
		batch := batch{of: taken, wanted: vars.Numbers, plain: map[int64][]byte{}}
		_, err = s.Play(ctx, a, Play{Host: n.HostID, Playbook: kube.EtcdPlaybook, File: partsFile, Vars: vars, Each: batch.take})
		if err != nil {
			return err
		}
		for _, number := range batch.wanted {
			plain, ok := batch.plain[number]
			if !ok {
				return &work.Error{Code: "host_answer", Message: fmt.Sprintf("The host %s did not send part %d of the snapshot.", n.Name, number)}
			}
			sealed := cipher.Seal(number, plain)
			if err := s.record(ctx, a, func(tx *db.Tx) error { return kube.PutPart(ctx, tx, taken.ID, number, sealed) }); err != nil {
				return err
			}
		}
	}
}

// nodeOf is the node that a snapshot was taken on, if it is still one.
func (s snapshotSteps) nodeOf(ctx context.Context, a *work.Attempt, taken kube.Snapshot) (kube.Node, error) {
	w, err := s.load(ctx, a)
	if err != nil {
		return kube.Node{}, err
	}
	for _, n := range w.reached() {
		if n.Name == taken.Node {
			return n, nil
		}
	}
	return kube.Node{}, &work.Error{Code: goneSnapshot.Code, Message: fmt.Sprintf("The node %s, which has the snapshot, can't be reached any more.", taken.Node), NextStep: goneSnapshot.NextStep}
}

func missingParts(ctx context.Context, q db.Reader, of kube.Snapshot) (missing []int64, err error) {
	have, err := kube.PartsOf(ctx, q, of.ID)
	if err != nil {
		return nil, fmt.Errorf("list the parts of a snapshot: %w", err)
	}
	here := map[int64]bool{}
	for _, number := range have {
		here[number] = true
	}
	for number := range of.Parts {
		if !here[number] {
			missing = append(missing, number)
		}
	}
	return missing, nil
}

// batch is the parts that one play brings.
type batch struct {
	of     kube.Snapshot
	wanted []int64          // their numbers
	plain  map[int64][]byte // by number, as they came
}

// take takes one part as a host sends it.
func (b batch) take(answer json.RawMessage) error {
	var said struct {
		Number  int64  `json:"number"`
		Content string `json:"content"`
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return &work.Error{Code: "host_answer", Message: "The host sent what is no part of a snapshot."}
	}
	content, err := base64.StdEncoding.DecodeString(said.Content)
	if err != nil || !slices.Contains(b.wanted, said.Number) || int64(len(content)) != b.of.PartSize(said.Number) {
		return &work.Error{Code: "host_answer", Message: fmt.Sprintf("The host sent part %d of the snapshot with %d bytes, which does not fit.", said.Number, len(content))}
	}
	b.plain[said.Number] = content
	return nil
}

// checkParts reads all parts again, as a restore would, and compares the whole with what the host took.
func (s snapshotSteps) checkParts(ctx context.Context, a *work.Attempt) error {
	taken, err := s.heldSnapshot(ctx, a)
	if err != nil || taken.TakenAt != nil {
		return err
	}
	err = Unpack(ctx, a.DB.Reader, s.Keys, taken, io.Discard)
	if errors.Is(err, ErrDiffers) {
		if err := s.record(ctx, a, func(tx *db.Tx) error { return kube.DropSnapshot(ctx, tx, taken.ID) }); err != nil {
			return err
		}
		return &work.Error{Code: "snapshot_differs", Message: fmt.Sprintf("What was kept is not what was taken on %s: %s.", taken.Node, err), NextStep: "Ask for another snapshot."}
	}
	if err != nil {
		return err
	}
	return s.record(ctx, a, func(tx *db.Tx) error { return kube.FinishSnapshot(ctx, tx, a.Actor(), a.ID, taken) })
}

// ErrDiffers is why a snapshot can't be used: a part is missing or was changed, or the whole is not what was taken.
var ErrDiffers = errors.New("the snapshot is not what was taken")

// Unpack writes a snapshot as etcd reads it. What it wrote before an error is of no use.
func Unpack(ctx context.Context, q db.Reader, keys *secret.Keyset, s kube.Snapshot, into io.Writer) error {
	cipher, err := s.Cipher(keys)
	if err != nil {
		return err
	}
	stored := &parts{ctx: ctx, q: q, of: s, cipher: cipher}
	unpacked, err := zlib.NewReader(stored)
	if err != nil {
		return stored.why(err)
	}
	sum, out := sha256.New(), &sink{into: into}
	// One byte more than there may be: what is longer is seen, and no more of it is unpacked.
	size, err := io.Copy(io.MultiWriter(sum, out), io.LimitReader(unpacked, s.Size+1))
	switch got := hex.EncodeToString(sum.Sum(nil)); {
	case out.failed != nil:
		return fmt.Errorf("write the snapshot: %w", out.failed)
	case err != nil:
		return stored.why(err)
	case size != s.Size || got != s.SHA256:
		return fmt.Errorf("%w: it has %d bytes with the SHA-256 %s, not %d with %s", ErrDiffers, size, got, s.Size, s.SHA256)
	}
	return nil
}

// sink remembers why a snapshot could not be written.
type sink struct {
	into   io.Writer
	failed error
}

func (s *sink) Write(b []byte) (n int, err error) {
	n, s.failed = s.into.Write(b)
	return n, s.failed
}

// parts reads the parts of a snapshot one after the other, decrypted.
type parts struct {
	ctx    context.Context
	q      db.Reader
	of     kube.Snapshot
	cipher kube.Cipher
	next   int64
	left   []byte
	failed error // of the database, which says nothing of the snapshot
}

// why tells an error of the database from one of the snapshot.
func (p *parts) why(err error) error {
	if p.failed != nil {
		return p.failed
	}
	return fmt.Errorf("%w: %w", ErrDiffers, err)
}

func (p *parts) Read(into []byte) (int, error) {
	for len(p.left) == 0 {
		if p.next == p.of.Parts {
			return 0, io.EOF
		}
		sealed, err := kube.Part(p.ctx, p.q, p.of.ID, p.next)
		if errors.Is(err, fault.ErrNotFound) {
			return 0, fmt.Errorf("part %d is missing", p.next)
		}
		if err != nil {
			p.failed = fmt.Errorf("read part %d: %w", p.next, err)
			return 0, p.failed
		}
		if p.left, err = p.cipher.Open(p.next, sealed); err != nil {
			return 0, err
		}
		p.next++
	}
	n := copy(into, p.left)
	p.left = p.left[n:]
	return n, nil
}

// forgetSnapshot deletes on the host what is here now. A host that is gone has taken it along.
func (s snapshotSteps) forgetSnapshot(ctx context.Context, a *work.Attempt) error {
	taken, err := s.heldSnapshot(ctx, a)
	if err != nil {
		return err
	}
	n, err := s.nodeOf(ctx, a, taken)
	if err != nil {
		a.Log.Note("%s can't be reached any more; nothing is deleted there.", taken.Node)
	} else if _, err := s.Play(ctx, a, Play{Host: n.HostID, Playbook: kube.EtcdPlaybook, File: forgetFile, Vars: forgetVars{Node: n.Name}}); err != nil {
		return err
	}
	a.Outcome("A snapshot of %d MiB was taken on %s; %d MiB are kept.", (taken.Size+1<<19)>>20, taken.Node, (taken.Stored+1<<19)>>20)
	return nil
}
