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
	"net"
	"slices"
	"strings"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/work"

	"github.com/google/uuid"
)

// Handlers are what the steps of the jobs about clusters do.
func Handlers(config Config) work.Handlers {
	s := steps{config}
	return work.Handlers{
		kube.ClusterCreate.Name: {
			kube.PrepareStep: s.prepare, kube.NameStep: s.dnsName, kube.ControlPlaneStep: s.controlPlane, kube.APIStep: s.api, kube.MembersStep: s.members,
			kube.WorkersStep: s.workers, kube.RoutesStep: s.routes, kube.ReadyStep: s.ready,
		},
		kube.ClusterDelete.Name: {kube.ResetWorkersStep: s.resetWorkers, kube.ResetStep: s.resetControlPlane},
		kube.ClusterAddNodes.Name: {
			kube.PrepareStep: s.prepare, kube.MembersStep: s.members, kube.WorkersStep: s.workers, kube.RoutesStep: s.routes, kube.ReadyStep: s.ready,
		},
		kube.ClusterRemoveNode.Name: {
			kube.DrainStep: s.drain, kube.RemoveStep: s.remove, kube.ResetHostStep: s.resetLeaving, kube.ResetStep: s.resetLeaving, kube.RoutesStep: s.routes, kube.ReadyStep: s.ready,
		},
		kube.ClusterReplaceNode.Name: {
			kube.PrepareStep: s.prepare, kube.MembersStep: s.members, kube.WorkersStep: s.workers, kube.DrainStep: s.drain, kube.RemoveStep: s.remove,
			kube.ResetHostStep: s.resetLeaving, kube.ResetStep: s.resetLeaving, kube.RoutesStep: s.routes, kube.ReadyStep: s.ready,
		},
		kube.ClusterRenew.Name: {kube.RenewStep: s.renewCertificates},
		kube.ClusterSnapshot.Name: {
			kube.TakeStep: s.takeSnapshot, kube.BringPartsStep: s.bringParts, kube.CheckPartsStep: s.checkParts, kube.ForgetPartsStep: s.forgetSnapshot,
		},
		kube.ClusterRestore.Name: {
			kube.CheckPlanesStep: s.checkPlanes, kube.SendPartsStep: s.sendParts, kube.MakeDataStep: s.restoring(doMake), kube.ExchangeStep: s.exchange,
			kube.StartStep: s.restoring(doStart, doSettle, doFinish), kube.APIStep: s.api, kube.RemoveLostStep: s.removeLost, kube.RestartNodesStep: s.restartKubelets,
			kube.NodesBackStep: s.nodesBack,
			"restore":          s.ofOlderRelease,
		},
		kube.ClusterUpgrade.Name: {
			kube.CheckStep: s.upgrading(upgrade.check), kube.BringStep: s.upgrading(upgrade.bring), kube.UpgradePlanesStep: s.upgrading(upgrade.controlPlanes),
			kube.UpgradeWorkersStep: s.upgrading(upgrade.workers), kube.UpgradeFinishedStep: s.upgrading(upgrade.finish),
		},
	}
}

type steps struct{ Config }

// world is the cluster of an attempt with all that the steps look at, read afresh.
type world struct {
	kube.Cluster
	version kube.Version
	nodes   []kube.Node // control plane first
}

func (s steps) load(ctx context.Context, a *work.Attempt) (w world, err error) {
	if w.Cluster, err = kube.ClusterByID(ctx, a.DB.Reader, a.Object(kube.ClusterRole).ID); err != nil {
		return w, fmt.Errorf("load the cluster: %w", err)
	}
	if w.version, err = kube.FindVersion(ctx, a.DB.Reader, w.KubeVersion); err != nil {
		return w, fmt.Errorf("load the version %s: %w", w.KubeVersion, err)
	}
	if w.nodes, err = kube.NodesOf(ctx, a.DB.Reader, w.ID); err != nil {
		return w, fmt.Errorf("load the nodes: %w", err)
	}
	hosted := a.Object(kube.HostedRole).ID != uuid.Nil // its nodes are workers, if it has any
	if !hosted && (len(w.nodes) == 0 || w.nodes[0].Role != kube.ControlPlane) {
		return w, errors.New("the cluster has no control plane")
	}
	return w, nil
}

// loadOpen is load with a client of the cluster's API server, which the caller closes.
func (s steps) loadOpen(ctx context.Context, a *work.Attempt) (world, *kubeapi.Client, error) {
	w, err := s.load(ctx, a)
	if err != nil {
		return w, nil, err
	}
	client, err := s.open(w.Cluster)
	return w, client, err
}

// nodesOfRole are the nodes of a role.
func (w world) nodesOfRole(role string) []kube.Node {
	return slices.DeleteFunc(slices.Clone(w.nodes), func(n kube.Node) bool { return n.Role != role })
}

// reached are the nodes that are in the cluster and on hosts that plays can reach.
func (w world) reached() []kube.Node {
	return slices.DeleteFunc(slices.Clone(w.nodes), func(n kube.Node) bool { return !n.InCluster() || n.HostState == kube.HostLost })
}

// speaker is a control plane that plays about the whole cluster run on: one that is in it, and ready if any is.
func (w world) speaker() (kube.Node, error) {
	all := slices.DeleteFunc(w.reached(), func(n kube.Node) bool { return n.Role != kube.ControlPlane })
	if len(all) == 0 {
		return kube.Node{}, &work.Error{Code: "no_control_plane", Message: "No control plane of the cluster can be reached.", NextStep: "Bring a control plane back, then retry the job."}
	}
	if at := slices.IndexFunc(all, func(n kube.Node) bool { return n.State == kube.NodeReady }); at >= 0 {
		return all[at], nil
	}
	return all[0], nil
}

// record writes what a step found, if the attempt is still the one that counts.
func (s steps) record(ctx context.Context, a *work.Attempt, f func(tx *db.Tx) error) error {
	return a.DB.InTx(ctx, func(tx *db.Tx) error {
		if err := work.Own(ctx, tx, a.ID, a.Number); err != nil {
			return err
		}
		return f(tx)
	})
}

func (s steps) move(ctx context.Context, a *work.Attempt, n kube.Node, on lifecycle.Event) error {
	return s.record(ctx, a, func(tx *db.Tx) error { return kube.MoveNode(ctx, tx, n.ID, on, "") })
}

func (s steps) prepare(ctx context.Context, a *work.Attempt) error {
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
func (s steps) dnsName(ctx context.Context, a *work.Attempt) error {
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

func (s steps) controlPlane(ctx context.Context, a *work.Attempt) error {
	w, err := s.load(ctx, a)
	if err != nil {
		return err
	}
	n := w.nodes[0]
	if w.CA != "" && n.State != kube.NodePrepared {
		return nil
	}
	request, err := s.adminRequest(w.Cluster)
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
	made, err := s.adminAnswer(w.Cluster, answer)
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

// Pauses of the steps that wait.
const (
	apiPause   = 5 * time.Second
	readyPause = 10 * time.Second
)

func (s steps) api(ctx context.Context, a *work.Attempt) error {
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

// notYet looks again after an error of the API server that may heal.
func notYet(ctx context.Context, pause time.Duration, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !kubeapi.Heals(err) {
		return &work.Error{Code: "cluster_refused", Message: fmt.Sprintf("The cluster refused a request: %s.", err), NextStep: "Find out why in the cluster's own logs, then retry the job."}
	}
	return work.NotYet(pause, err.Error())
}

func (s steps) workers(ctx context.Context, a *work.Attempt) error {
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
func (s steps) join(ctx context.Context, a *work.Attempt, client *kubeapi.Client, n kube.Node, play func(token string) Play) error {
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

func (s steps) routes(ctx context.Context, a *work.Attempt) error {
	w, err := s.load(ctx, a)
	if err != nil || len(w.nodes) == 1 && !hasStep(a, kube.RemoveStep) {
		return err // an only node has routes to unset at most, after a job that took another away
	}
	return s.tellRoutes(ctx, a, w)
}

func (s steps) tellRoutes(ctx context.Context, a *work.Attempt, w world) error {
	for _, n := range w.reached() {
		if _, err := s.Play(ctx, a, Play{Host: n.HostID, Playbook: kube.PreparePlaybook, File: routesFile, Vars: w.routesVars(n)}); err != nil {
			return err
		}
	}
	return nil
}

// hasStep tells whether the job of an attempt has a step.
func hasStep(a *work.Attempt, name string) bool {
	return slices.ContainsFunc(a.Steps, func(step work.JobStep) bool { return step.Name == name })
}

func (s steps) ready(ctx context.Context, a *work.Attempt) error {
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

func whyNotReady(found []kubeapi.Node, name string) string {
	at := slices.IndexFunc(found, func(n kubeapi.Node) bool { return n.Name == name })
	switch {
	case at < 0:
		return "the cluster does not know it"
	case !found[at].Ready:
		return found[at].Why
	}
	return ""
}

func (s steps) resetWorkers(ctx context.Context, a *work.Attempt) error {
	w, err := s.load(ctx, a)
	if err != nil {
		return err
	}
	return s.reset(ctx, a, w, w.nodesOfRole(kube.Worker))
}

func (s steps) resetControlPlane(ctx context.Context, a *work.Attempt) error {
	w, err := s.load(ctx, a)
	if err != nil {
		return err
	}
	if err := s.reset(ctx, a, w, w.nodesOfRole(kube.ControlPlane)); err != nil {
		return err
	}
	a.Outcome("Kubernetes was taken off %d hosts.", len(w.nodes))
	a.AtSuccess(func(ctx context.Context, tx *db.Tx) error { return kube.Forget(ctx, tx, w.ID) })
	return nil
}

// reset takes Kubernetes off hosts. A machine that was declared lost is passed over: nobody reaches it any more.
func (s steps) reset(ctx context.Context, a *work.Attempt, w world, nodes []kube.Node) error {
	for _, n := range nodes {
		switch {
		case n.State == kube.NodeLeft:
			continue
		case n.HostState == kube.HostLost:
			a.Log.Note("%s was declared lost; nothing is done there.", n.Name)
		default:
			a.Log.Note("Taking Kubernetes off %s.", n.Name)
			if _, err := s.Play(ctx, a, Play{Host: n.HostID, Playbook: kube.ResetPlaybook, File: mainFile, Vars: w.resetVars(n)}); err != nil {
				return err
			}
		}
		if err := s.move(ctx, a, n, kube.NodeHasLeft); err != nil {
			return err
		}
	}
	return nil
}

// endpointHost is the host of the endpoint, without its port.
func (w world) endpointHost() string {
	host, _, _ := net.SplitHostPort(w.Endpoint) // kube.ParseEndpoint made it
	return host
}
