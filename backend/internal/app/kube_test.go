package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/egress"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/testkit/kubeserver"
	"kloigos/backend/internal/testkit/site"
	"kloigos/backend/internal/worker"
)

// kubeSite is an installation with a kubernetes workspace, and a cluster that answers where its hosts would.
type kubeSite struct {
	*site.Site
	server    *kubeserver.Server
	ssh       *site.SSHServer
	keys      *secret.Keyset
	keyFile   string
	kinds     *work.Registry
	config    kubework.Config
	workspace uuid.UUID
	work      func() queue.Work
	pool      *pgxpool.Pool // for what no intent does, and what every row says
	// The API server that nodes and policies meet: of server, or a real one.
	endpoint, ca string
	sign         func(request string) string
}

func newKubeSite(t *testing.T) *kubeSite {
	t.Helper()
	kinds, err := work.NewRegistry([]work.Noun{kube.ClusterJobs, kube.HostedJobs}, append(kube.Kinds(), kube.HostedKinds()...))
	if err != nil {
		t.Fatal(err)
	}
	k := &kubeSite{Site: site.NewWith(t, intent.Config{Kinds: kinds}), kinds: kinds, server: kubeserver.New(t), ssh: site.NewSSHServer(t), workspace: uuid.New()}
	k.keyFile = filepath.Join(t.TempDir(), "keyset.json")
	if k.keys, err = secret.Create(k.keyFile); err != nil {
		t.Fatal(err)
	}
	if k.pool, err = pgxpool.New(t.Context(), k.URL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.pool.Close)
	k.sql(`INSERT INTO workspaces (id, project_id, name, type) SELECT $1, w.project_id, 'apps', 'kubernetes' FROM workspaces w WHERE w.id = $2`, k.workspace, domain.DefaultWorkspace)
	k.config = kubework.Config{DB: k.DB.DB, Keys: k.keys, Check: func(netip.Addr) error { return nil }, NameOf: dns.NameOfCluster}
	k.config.Managers = egress.Rule{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	k.endpoint, k.ca = k.server.Endpoint, k.server.CA
	k.sign = func(request string) string { return k.server.Sign(request, 365*24*time.Hour) }
	k.work = func() queue.Work {
		w, config := k.Worker(nil), k.config
		config.Play = func(ctx context.Context, a *work.Attempt, p kubework.Play) (json.RawMessage, error) {
			return w.PlayFor(ctx, a, worker.HostPlay(p))
		}
		handlers := kubework.Handlers(config)
		maps.Copy(handlers, kubework.HostedHandlers(config))
		return queue.Kinds(&work.Runner{DB: k.DB.DB, Registry: kinds, Handlers: handlers, Backend: "backend-1"}, w.Work)
	}
	k.Runner.Handle("kube_prepare", scripted.Script{})
	k.Runner.Handle("kubeadm_join", scripted.Script{})
	k.Runner.Handle("kubeadm_reset", scripted.Script{})
	k.Runner.HandleFunc("kubeadm_init", k.initialized)
	return k
}

func (k *kubeSite) sql(sql string, args ...any) {
	k.T.Helper()
	if _, err := k.pool.Exec(k.T.Context(), sql, args...); err != nil {
		k.T.Fatal(err)
	}
}

// initialized answers as the playbook does: the authority of the cluster signs the request.
func (k *kubeSite) initialized(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
	var vars struct {
		Request string `json:"kubeadm_init_request"`
	}
	text, err := json.Marshal(play.Vars)
	if err == nil {
		err = json.Unmarshal(text, &vars)
	}
	if err != nil {
		return ansible.Outcome{}, err
	}
	return site.Play(ctx, play, sink, scripted.Script{Result: map[string]any{"ca": k.ca, "certificate": k.sign(vars.Request)}})
}

// host registers a host of the workspace and has it initialized. The cluster calls it ready.
func (k *kubeSite) host(name string) uuid.UUID {
	k.T.Helper()
	host, job, err := k.Intents.RegisterHost(k.T.Context(), k.Call.In(k.workspace), intent.RegisterHost{Name: name, Address: "127.0.0.1", Port: k.ssh.Port, AdminUser: "operator1", TrustOnFirstUse: true})
	if err != nil {
		k.T.Fatal(err)
	}
	k.Ended(job, domain.JobSucceeded)
	if job, err = k.Intents.InitializeHost(k.T.Context(), k.Call, host, 0, false); err != nil {
		k.T.Fatal(err)
	}
	k.Ended(job, domain.JobSucceeded)
	k.server.SetNode(name, true)
	return host
}

func (k *kubeSite) do(f func(tx *kernel.Tx) error) error {
	call := kernel.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Workspace: k.workspace}
	return kernel.Engine{DB: k.DB.DB}.Do(k.T.Context(), call, f)
}

const bundleSum = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

func (k *kubeSite) create(controlPlane string, workers ...string) (cluster, job uuid.UUID) {
	k.T.Helper()
	return k.createWith([]string{controlPlane}, workers...)
}

func (k *kubeSite) createWith(controlPlanes []string, workers ...string) (cluster, job uuid.UUID) {
	k.T.Helper()
	err := kernel.Engine{DB: k.DB.DB}.Do(k.T.Context(), kernel.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Installation: true}, func(tx *kernel.Tx) error {
		_, err := kube.CreateVersion(k.T.Context(), tx, kube.VersionDraft{Name: "v1.36.3", Active: true, Bundle: "/srv/kubernetes.tar", BundleSHA256: bundleSum})
		return err
	})
	if err != nil {
		k.T.Fatal(err)
	}
	err = k.do(func(tx *kernel.Tx) (err error) {
		cluster, job, err = kube.CreateCluster(k.T.Context(), tx, k.keys, k.kinds, kube.ClusterDraft{
			Name: "apps", KubeVersion: "v1.36.3", ControlPlane: controlPlanes, Workers: workers, Endpoint: k.endpoint,
			PodRange: kube.DefaultPodRange, ServiceRange: kube.DefaultServiceRange,
		})
		return err
	})
	if err != nil {
		k.T.Fatal(err)
	}
	return cluster, job
}

func (k *kubeSite) cluster(id uuid.UUID) kube.Cluster {
	k.T.Helper()
	c, err := kube.ClusterByID(k.T.Context(), k.DB.Reader, id)
	if err != nil {
		k.T.Fatal(err)
	}
	return c
}

// plays are the plays of clusters that were sent, each with its host. All of them are under the fence.
func (k *kubeSite) plays() (all []string) {
	for _, c := range k.Runner.Calls() {
		if !strings.HasPrefix(c.Play.Name, "kube") {
			continue
		}
		if c.Play.Hosts[0].Fence == nil {
			k.T.Errorf("%s on %s runs without the fence", c.Play.Name, c.Play.Hosts[0].Name)
		}
		all = append(all, c.Play.Name+"/"+c.Play.Playbook+" "+c.Play.Hosts[0].Name)
	}
	return all
}

const secretsPath = "/api/v1/namespaces/kube-system/secrets"

func TestClusterFromHostsAndBack(t *testing.T) {
	t.Parallel()
	k := newKubeSite(t)
	k.BackendWith(k.work(), queue.Config{})
	first, second := k.host("k1"), k.host("k2")
	cluster, job := k.create("k1", "k2")
	k.Ended(job, domain.JobSucceeded)
	want := []string{
		"kube_prepare/playbook.yml k1", "kube_prepare/playbook.yml k2", "kubeadm_init/playbook.yml k1", "kubeadm_join/playbook.yml k2",
		"kube_prepare/routes.yml k1", "kube_prepare/routes.yml k2",
	}
	if got := k.plays(); !slices.Equal(got, want) {
		t.Errorf("plays %q, want %q", got, want)
	}
	if c := k.cluster(cluster); c.State != kube.ClusterActive || c.Ready != 2 || c.CA != k.server.CA {
		t.Errorf("cluster %s, %d nodes ready", c.State, c.Ready)
	}
	if left := k.server.Names(secretsPath); len(left) > 0 {
		t.Errorf("tokens left: %q", left)
	}
	k.holdsNoSecret()

	// Its hosts are its own.
	_, err := k.Intents.DecommissionHost(t.Context(), k.Call, first, 0)
	if err == nil || !strings.Contains(err.Error(), "delete the cluster first") {
		t.Errorf("decommission of a node: %v", err)
	}

	err = k.do(func(tx *kernel.Tx) error {
		_, ref, err := kube.FindCluster(t.Context(), tx.Reader, k.workspace, "apps")
		if err == nil {
			job, err = kube.AskDelete(t.Context(), tx, k.kinds, ref, 0, "apps")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobSucceeded)
	if got := k.plays()[len(want):]; !slices.Equal(got, []string{"kubeadm_reset/playbook.yml k2", "kubeadm_reset/playbook.yml k1"}) {
		t.Errorf("plays of the deletion %q", got)
	}
	if left, err := kube.Clusters(t.Context(), k.DB.Reader, kube.ClusterFilter{WorkspaceID: k.workspace, Limit: 1}); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if _, err := k.Intents.DecommissionHost(t.Context(), k.Call, second, 0); err != nil {
		t.Errorf("decommission afterwards: %v", err)
	}
}

// holdsNoSecret looks for tokens in everything that was written.
func (k *kubeSite) holdsNoSecret() {
	k.T.Helper()
	for _, c := range k.Runner.Calls() {
		var vars struct {
			Token string `json:"kubeadm_join_token"`
		}
		if err := json.Unmarshal(c.Vars, &vars); err != nil || vars.Token == "" {
			continue
		}
		_, part, _ := strings.Cut(vars.Token, ".")
		if !slices.Contains(c.Play.Secrets, part) {
			k.T.Error("the play does not know that the token is secret")
		}
		for _, table := range []string{"jobs", "job_steps", "job_objects", "job_log", "events", "kube_nodes", "kube_clusters"} {
			var n int
			err := k.pool.QueryRow(k.T.Context(), fmt.Sprintf("SELECT count(*) FROM %s x WHERE x::TEXT LIKE $1", table), "%"+part+"%").Scan(&n)
			if err != nil || n > 0 {
				k.T.Errorf("%d rows of %s have the secret of a token: %v", n, table, err)
			}
		}
	}
}

// A join that fails leaves no token, and a retry goes on where it stood with another one.
func TestAFailedJoinGoesOnWithAnotherToken(t *testing.T) {
	t.Parallel()
	k := newKubeSite(t)
	k.BackendWith(k.work(), queue.Config{})
	k.host("k1")
	k.host("k2")
	k.Runner.Handle("kubeadm_join", scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeTaskFailed, Message: "kubeadm join failed: no route to host"}}, scripted.Script{})
	cluster, job := k.create("k1", "k2")
	j := k.Ended(job, domain.JobFailed)
	if j.Error.Code != domain.ErrCodeTaskFailed || !strings.Contains(j.Error.Message, "no route to host") {
		t.Errorf("error %+v", j.Error)
	}
	if c := k.cluster(cluster); c.State != kube.ClusterFailed {
		t.Errorf("cluster %s", c.State)
	}
	if left := k.server.Names(secretsPath); len(left) > 0 {
		t.Errorf("tokens left: %q", left)
	}
	if err := k.Intents.RetryJob(t.Context(), k.Call, job, false); err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobSucceeded)
	var inits int
	tokens := map[string]bool{}
	for _, c := range k.Runner.Calls() {
		var vars struct {
			Token string `json:"kubeadm_join_token"`
		}
		if c.Play.Name == "kubeadm_init" {
			inits++
		}
		if c.Play.Name == "kubeadm_join" && json.Unmarshal(c.Vars, &vars) == nil {
			tokens[vars.Token] = true
		}
	}
	if inits != 1 || len(tokens) != 2 {
		t.Errorf("%d control planes were made, with %d tokens", inits, len(tokens))
	}
}

// Killed while a worker joins: another backend takes over under a newer number, and deletes the token of the first by its id.
func TestATakenOverJoinDeletesTheTokenBefore(t *testing.T) {
	t.Parallel()
	k := newKubeSite(t)
	first := k.BackendWith(k.work(), queue.Config{})
	k.host("k1")
	k.host("k2")
	begun := make(chan struct{}, 2)
	k.Runner.HandleFunc("kubeadm_join", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		begun <- struct{}{}
		return site.Play(ctx, play, sink, scripted.Script{Wait: make(chan struct{})})
	})
	cluster, job := k.create("k1", "k2")
	site.Await(t, "the join", begun)
	nodes, err := kube.NodesOf(t.Context(), k.DB.Reader, cluster)
	if err != nil || nodes[1].TokenID == "" {
		t.Fatalf("the row does not know of a token: %v", err)
	}
	before := nodes[1].TokenID
	// Nothing that it would do at its end reaches the cluster: it is as dead as can be.
	k.server.Refuse(func(string, string) int { return 503 })
	first.Stop()
	first.Kill()
	site.Await(t, "the backend's end", first.Stopped())
	if left := k.server.Names(secretsPath); !slices.Equal(left, []string{"bootstrap-token-" + before}) {
		t.Errorf("tokens %q", left)
	}
	k.server.Refuse(nil)
	k.Runner.Handle("kubeadm_join", scripted.Script{})
	k.BackendWith(k.work(), queue.Config{})
	k.Ended(job, domain.JobSucceeded)
	if left := k.server.Names(secretsPath); len(left) > 0 {
		t.Errorf("tokens left: %q", left)
	}
	if !slices.Contains(k.server.Requests(), "DELETE "+secretsPath+"/bootstrap-token-"+before) {
		t.Error("the token of the first attempt was not deleted by its id")
	}
	var numbers []int64
	for _, c := range k.Runner.Calls() {
		if c.Play.Name == "kubeadm_join" {
			numbers = append(numbers, c.Play.Hosts[0].Fence.Number)
		}
	}
	if len(numbers) != 2 || numbers[0] >= numbers[1] {
		t.Errorf("numbers of the fence %v", numbers)
	}
}

// A cancelled job leaves no host held: the next job gets it.
func TestACancelledCreationLetsGoOfItsHosts(t *testing.T) {
	t.Parallel()
	k := newKubeSite(t)
	k.BackendWith(k.work(), queue.Config{})
	host := k.host("k1")
	begun := make(chan struct{}, 1)
	k.Runner.HandleFunc("kube_prepare", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		begun <- struct{}{}
		return site.Play(ctx, play, sink, scripted.Script{Wait: make(chan struct{})})
	})
	cluster, job := k.create("k1")
	site.Await(t, "the play", begun)
	if err := k.Intents.CancelJob(t.Context(), k.Call, job); err != nil {
		t.Fatal(err)
	}
	k.Ended(job, domain.JobCancelled)
	if c := k.cluster(cluster); c.State != kube.ClusterFailed {
		t.Errorf("cluster %s", c.State)
	}
	if ends := k.Runner.Ends(); len(ends) != 1 || ends[0].Fence.Run != job.String() {
		t.Errorf("told to end: %+v", ends)
	}
	again, err := k.Intents.InitializeHost(t.Context(), k.Call, host, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	k.Ended(again, domain.JobSucceeded)
}

// Somebody deletes a binding in the cluster: the policy brings it back, and says so.
func TestPolicyKeepsBindings(t *testing.T) {
	t.Parallel()
	k := newKubeSite(t)
	k.BackendWith(k.work(), queue.Config{})
	k.host("k1")
	cluster, job := k.create("k1")
	k.Ended(job, domain.JobSucceeded)
	account := uuid.New()
	k.sql(`INSERT INTO accounts (id, name, password_hash, role) VALUES ($1, 'grace', '', 'administrator')`, account)
	k.sql(`INSERT INTO grants (id, account_id, scope, scope_id, role, created_by) VALUES ($1, $2, 'workspace', $3, 'viewer', 'ada')`, uuid.New(), account, k.workspace)
	var binding kube.Binding
	err := k.do(func(tx *kernel.Tx) error {
		_, ref, err := kube.FindCluster(t.Context(), tx.Reader, k.workspace, "apps")
		if err == nil {
			binding, err = kube.CreateBinding(t.Context(), tx, ref, "grace", kube.Editor, "")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	const path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
	want := []string{"kloigos-binding-" + binding.ID.String()}
	look := func(observe bool) []string {
		t.Helper()
		found := lookAt(t, kubework.Policies(k.config)[0], cluster, observe)
		for _, c := range found.Conditions {
			if c.Type == "bindings_kept" {
				return []string{string(c.Status), c.Message}
			}
		}
		t.Fatalf("conditions %+v", found.Conditions)
		return nil
	}
	look(false)
	if got := k.server.Names(path); !slices.Equal(got, want) {
		t.Errorf("bindings %q", got)
	}
	k.server.Delete(path + "/" + want[0])
	if got := look(true); got[0] != "false" || !strings.Contains(got[1], "grace was missing") {
		t.Errorf("observed %q", got)
	}
	look(false)
	if got := k.server.Names(path); !slices.Equal(got, want) {
		t.Errorf("bindings %q after the repair", got)
	}
	made, err := k.config.Issue(t.Context(), k.cluster(cluster), kube.User(account), time.Hour)
	if err != nil || time.Until(made.Ends) > time.Hour+time.Minute {
		t.Errorf("issued until %s, %v", made.Ends, err)
	}

	// Who has lost access to the workspace has no binding in the cluster either.
	k.sql(`DELETE FROM grants WHERE account_id = $1`, account)
	look(false)
	if got := k.server.Names(path); len(got) > 0 {
		t.Errorf("bindings left: %q", got)
	}

	// A node that is not ready degrades the cluster.
	k.server.SetNode("k1", false)
	look(false)
	if c := k.cluster(cluster); c.State != kube.ClusterDegraded || !strings.Contains(c.StateMessage, "no network") {
		t.Errorf("cluster %s: %s", c.State, c.StateMessage)
	}
	k.server.SetNode("k1", true)
	look(false)
	if c := k.cluster(cluster); c.State != kube.ClusterActive {
		t.Errorf("cluster %s: %s", c.State, c.StateMessage)
	}
}

func lookAt(t testing.TB, p reconcile.Policy, object uuid.UUID, observe bool) reconcile.Outcome {
	t.Helper()
	out, err := p.Run(t.Context(), reconcile.Item{ObjectID: object, Observe: observe})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
