package kube

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/secret"
)

// Bounds of a snapshot of etcd. The module that takes one has the same.
const (
	// SnapshotPart is how many bytes a part has; the last one has fewer.
	SnapshotPart = 700 << 10
	// LargestSnapshot bounds the parts together.
	LargestSnapshot = 256 << 20
	// largestUnpacked bounds what they unpack to: etcd itself takes no more than 8 GiB.
	largestUnpacked = 8 << 30
)

// Snapshot is one row of kube_snapshots: a snapshot of the etcd of a cluster.
type Snapshot struct {
	ID          uuid.UUID  `db:"id"`
	WorkspaceID uuid.UUID  `db:"workspace_id"`
	ClusterID   uuid.UUID  `db:"cluster_id"`
	Cluster     string     `db:"cluster"` // name of its cluster
	Node        string     `db:"node"`    // that it was taken on
	KubeVersion string     `db:"kube_version"`
	KeySealed   []byte     `db:"key_sealed"`
	Size        int64      `db:"size"`   // bytes, as etcd reads it
	Stored      int64      `db:"stored"` // bytes of all parts
	Parts       int64      `db:"parts"`
	SHA256      string     `db:"sha256"`
	BegunAt     time.Time  `db:"begun_at"` // its content is of this time
	TakenAt     *time.Time `db:"taken_at"` // nil: it is not whole yet
	Version     int64      `db:"version"`
	CreatedAt   time.Time  `db:"created_at"`
	UpdatedAt   time.Time  `db:"updated_at"`

	// Of its cluster now.
	ClusterState   ClusterState `db:"cluster_state"`
	ClusterVersion string       `db:"cluster_version"`
	TargetVersion  string       `db:"target_version"`
	Planes         []string     `db:"planes"`  // its control planes
	Away           []string     `db:"away"`    // those of them that are not in it, or whose hosts are lost or unreachable
	Lost           []string     `db:"lost"`    // those that can be given up, see Node.MayBeGivenUp
	LostAt         []string     `db:"lost_at"` // their addresses
	Endpoint       string       `db:"endpoint"`
}

// TakenSnapshot is what a host tells of a snapshot that it has taken.
type TakenSnapshot struct {
	Size   int64  `json:"size"`
	Stored int64  `json:"stored"`
	Parts  int64  `json:"parts"`
	SHA256 string `json:"sha256"`
}

var hexSum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Check tells why an answer of a host can't be believed; nil if it can.
func (t TakenSnapshot) Check() error {
	switch {
	case t.Stored > LargestSnapshot:
		return fmt.Errorf("it has %d MiB when it is compressed, and at most %d MiB are taken", t.Stored>>20, LargestSnapshot>>20)
	case t.Size <= 0 || t.Size > largestUnpacked || t.Stored <= 0 || t.Parts != (t.Stored+SnapshotPart-1)/SnapshotPart:
		return fmt.Errorf("its sizes do not fit: %d bytes in %d parts of %d bytes together", t.Size, t.Parts, t.Stored)
	case !hexSum.MatchString(t.SHA256):
		return fmt.Errorf("its SHA-256 is malformed")
	}
	return nil
}

// PartSize is how many bytes a part has before it is encrypted; 0 if there is none of this number.
func (s Snapshot) PartSize(number int64) int64 {
	if number < 0 || number >= s.Parts {
		return 0
	}
	return min(SnapshotPart, s.Stored-number*SnapshotPart)
}

// snapshotSealedFor is what the key of a snapshot is bound to, so that it cannot be moved to another row.
func snapshotSealedFor(id uuid.UUID) string { return "kube_snapshots/" + id.String() }

// newSnapshotKey draws the key that the parts of a snapshot are encrypted with, and seals it. A rotation of our keys then seals this one
// anew, and leaves the parts as they are.
func newSnapshotKey(keys *secret.Keyset, id uuid.UUID) ([]byte, error) {
	var key [32]byte
	if _, err := rand.Read(key[:]); err != nil {
		return nil, fmt.Errorf("draw the key of a snapshot: %w", err)
	}
	sealed, err := keys.Seal(key[:], snapshotSealedFor(id))
	if err != nil {
		return nil, fmt.Errorf("seal the key of a snapshot: %w", err)
	}
	return sealed, nil
}

// Cipher encrypts and decrypts the parts of one snapshot.
type Cipher struct {
	id   uuid.UUID
	aead cipher.AEAD
}

// Cipher opens the key of a snapshot.
func (s Snapshot) Cipher(keys *secret.Keyset) (Cipher, error) {
	key, err := keys.Open(s.KeySealed, snapshotSealedFor(s.ID))
	if err != nil {
		return Cipher{}, fmt.Errorf("open the key of snapshot %s: %w", s.ID, err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return Cipher{}, fmt.Errorf("use the key of snapshot %s: %w", s.ID, err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return Cipher{}, fmt.Errorf("use the key of snapshot %s: %w", s.ID, err)
	}
	return Cipher{s.ID, aead}, nil
}

// Each part is bound to its place: none can stand for another, nor in another snapshot.
func (c Cipher) place(number int64) []byte { return fmt.Appendf(nil, "%s/%d", c.id, number) }

// Seal encrypts a part.
func (c Cipher) Seal(number int64, plain []byte) []byte {
	return c.aead.Seal(nil, nil, plain, c.place(number))
}

// Open decrypts a part, or says that it was changed.
func (c Cipher) Open(number int64, sealed []byte) ([]byte, error) {
	plain, err := c.aead.Open(nil, nil, sealed, c.place(number))
	if err != nil {
		return nil, fmt.Errorf("part %d was changed", number)
	}
	return plain, nil
}

// SnapshotPlan says when snapshots of a cluster are taken by themselves, and which are kept.
type SnapshotPlan struct {
	Hours int64 // between two; 0: none is taken by itself
	Keep  int64 // how many
	Days  int64 // for how long
}

// Bounds of a plan.
const (
	mostSnapshotHours = 31 * 24
	mostSnapshots     = 100
	mostSnapshotDays  = 3650
)

func (p SnapshotPlan) check() error {
	var bad fault.Invalid
	if p.Hours < 0 || p.Hours > mostSnapshotHours {
		bad.Add("hours", "Use 1 to %d; 0 takes none by itself.", mostSnapshotHours)
	}
	if p.Keep < 1 || p.Keep > mostSnapshots {
		bad.Add("keep", "Use 1 to %d.", mostSnapshots)
	}
	if p.Days < 1 || p.Days > mostSnapshotDays {
		bad.Add("days", "Use 1 to %d.", mostSnapshotDays)
	}
	return bad.OrNil()
}

func (p SnapshotPlan) facts() map[string]any {
	return map[string]any{"hours": p.Hours, "keep": p.Keep, "days": p.Days}
}

// Plan is when snapshots of a cluster are taken.
func (c Cluster) Plan() SnapshotPlan {
	return SnapshotPlan{Hours: c.SnapshotHours, Keep: c.SnapshotKeep, Days: c.SnapshotDays}
}

var errHostedEtcd = fault.Conflictf("hosted_control_plane", "The control plane of the cluster is hosted. Its data is in the data store of the management cluster.")

// CanSnapshot tells why no snapshot of a cluster can be asked for now; nil if one can.
func (c Cluster) CanSnapshot() error {
	switch {
	case c.Hosted:
		return errHostedEtcd
	case c.State != ClusterActive && c.State != ClusterDegraded:
		return fault.Conflictf("cluster_state", "The cluster is %s: %s.", c.State, ClusterLifecycle.Info(c.State).Means)
	}
	return nil
}

// Expired are the snapshots of a cluster that its plan no longer keeps, of those that are whole, newest first. The newest is always kept.
func (p SnapshotPlan) Expired(whole []Snapshot, now time.Time) (all []Snapshot) {
	for i, s := range whole {
		if i > 0 && (int64(i) >= p.Keep || now.Sub(s.BegunAt) > time.Duration(p.Days)*24*time.Hour) {
			all = append(all, s)
		}
	}
	return all
}

// Stale tells whether the newest snapshot is older than the plan wants, with some time for the job that takes one.
func (p SnapshotPlan) Stale(newest *Snapshot, now time.Time, grace time.Duration) bool {
	return p.Hours > 0 && (newest == nil || now.Sub(newest.BegunAt) > time.Duration(p.Hours)*time.Hour+grace)
}

func (s Snapshot) facts() map[string]any {
	return map[string]any{"cluster": s.Cluster, "node": s.Node, "size": s.Size, "sha256": s.SHA256, "begun_at": s.BegunAt.UTC().Format(time.RFC3339)}
}

func (s Snapshot) entry(action string, before, after map[string]any) audit.Entry {
	return audit.Entry{
		Workspace: s.WorkspaceID, Action: SnapshotNoun + "." + action, ObjectKind: SnapshotNoun, ObjectID: s.ID, ObjectName: s.Cluster, Before: before, After: after,
	}
}
