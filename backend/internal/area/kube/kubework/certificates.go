package kubework

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"time"

	"kloigos/backend/internal/area/kube"
	"kloigos/backend/internal/area/kube/kubework/kubeapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/work"
)

// certsVars are the variables of kubeadm_certs.
type certsVars struct {
	Node  string `json:"kubeadm_certs_node"`
	Until int64  `json:"kubeadm_certs_until"`
}

// renewCertificates renews the certificates of control planes, one node at a time, each while all members of etcd are well.
func (s steps) renewCertificates(ctx context.Context, a *work.Attempt) error {
	var args kube.CertificatesArgs
	if err := a.Arguments(&args); err != nil {
		return fmt.Errorf("read the arguments of the job: %w", err)
	}
	w, client, err := s.loadOpen(ctx, a)
	if err != nil {
		return err
	}
	defer client.Close()
	planes := w.nodesOfRole(kube.ControlPlane)
	for _, n := range planes {
		if !n.InCluster() || n.CertificatesEnd != nil && !n.CertificatesEnd.Before(args.Until) {
			continue
		}
		if err := s.wellBeforeRestart(ctx, a, client, w); err != nil {
			return err
		}
		a.Log.Note("Renewing the certificates of %s.", n.Name)
		answer, err := s.Play(ctx, a, Play{Host: n.HostID, Playbook: kube.CertsPlaybook, File: mainFile, Vars: certsVars{Node: n.Name, Until: args.Until.Unix()}})
		if err != nil {
			return err
		}
		var said struct {
			End int64 `json:"end"`
		}
		if err := json.Unmarshal(answer, &said); err != nil || said.End < args.Until.Unix() {
			return &work.Error{Code: "host_answer", Message: fmt.Sprintf("The host %s did not tell when its certificates end.", n.Name)}
		}
		if err := s.record(ctx, a, func(tx *db.Tx) error { return kube.SetCertificatesEnd(ctx, tx, n.ID, time.Unix(said.End, 0)) }); err != nil {
			return err
		}
	}
	if err := s.wellBeforeRestart(ctx, a, client, w); err != nil {
		return err
	}
	a.Outcome("The certificates of %d control planes are good until %s or longer.", len(planes), args.Until.UTC().Format(time.DateOnly))
	return nil
}

// wellBeforeRestart: whoever takes a control plane down for a moment asks the API server and every member of etcd first.
func (s steps) wellBeforeRestart(ctx context.Context, a *work.Attempt, client *kubeapi.Client, w world) error {
	if err := client.Ready(ctx); err != nil {
		return notYet(ctx, apiPause, err)
	}
	speaker, err := w.speaker()
	if err != nil {
		return err
	}
	members, err := s.etcd(ctx, a, speaker)
	if err != nil {
		return err
	}
	return etcdWell(members)
}

// certificatesPolicy reads when the certificates of control planes end, and asks for their renewal.
func certificatesPolicy(config Config) reconcile.Policy {
	return config.overClusters(reconcile.Policy{
		Name: "cluster_certificates", Why: "certificates of control planes and our own access to clusters end by themselves",
		Interval: time.Hour, Jitter: 5 * time.Minute, Timeout: time.Minute,
	}, func(ctx context.Context, c kube.Cluster, observe bool) (reconcile.Outcome, error) {
		if c.State != kube.ClusterActive && c.State != kube.ClusterDegraded || c.Hosted {
			return reconcile.Outcome{}, nil // its job looks after it, or Kamaji
		}
		return config.lookAtCertificates(ctx, c, observe)
	})
}

func (c Config) lookAtCertificates(ctx context.Context, cluster kube.Cluster, observe bool) (out reconcile.Outcome, err error) {
	nodes, err := kube.NodesOf(ctx, c.DB.Reader, cluster.ID)
	if err != nil {
		return out, fmt.Errorf("load the nodes: %w", err)
	}
	found := reconcile.Condition{Type: "certificates_valid", Status: reconcile.True, Reason: "valid", Threshold: 1}
	var first *kube.Node
	for i, n := range nodes {
		if n.Role != kube.ControlPlane || !n.InCluster() || n.HostState == kube.HostLost {
			continue
		}
		if ends, err := c.shownEnd(ctx, cluster, n); err == nil && (n.CertificatesEnd == nil || ends.Before(*n.CertificatesEnd)) {
			n.CertificatesEnd = &ends
			nodes[i].CertificatesEnd = &ends
			if !observe {
				if err := c.DB.InTx(ctx, func(tx *db.Tx) error { return kube.SetCertificatesEnd(ctx, tx, n.ID, ends) }); err != nil {
					return out, err
				}
				out.Changed++
			}
		}
		if n.CertificatesEnd != nil && (first == nil || n.CertificatesEnd.Before(*first.CertificatesEnd)) {
			first = &nodes[i]
		}
	}
	if first != nil && time.Until(*first.CertificatesEnd) < kube.RenewBefore {
		found.Status, found.Reason, found.Fault = reconcile.False, endsSoon, reconcile.FaultUser
		found.Message = fmt.Sprintf("A certificate of %s ends at %s.", first.Name, first.CertificatesEnd.UTC().Format(time.RFC3339))
		if !observe && cluster.State == kube.ClusterActive {
			asked := false
			err = c.DB.InTx(ctx, func(tx *db.Tx) (err error) {
				asked, err = kube.RenewalDue(ctx, tx, c.Kinds, cluster.ID, *first.CertificatesEnd)
				return err
			})
			if asked {
				out.Changed++
				found.Message += " A job renews it."
			}
		}
	}
	out.Conditions = append(out.Conditions, found)
	return out, err
}

// shownEnd is when the certificate ends that the API server of one control plane shows. kubeadm makes and renews all of them together.
func (c Config) shownEnd(ctx context.Context, cluster kube.Cluster, n kube.Node) (time.Time, error) {
	address, err := netip.ParseAddr(n.Address)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the address of %s: %w", n.Name, err)
	}
	if err := c.Check(address); err != nil {
		return time.Time{}, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(cluster.CA))
	port := c.PlanePort
	if port == "" {
		port = kube.APIPort
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: n.Address, MinVersion: tls.VersionTLS12}}
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(n.Address, port))
	if err != nil {
		return time.Time{}, fmt.Errorf("look at the certificate of %s: %w", n.Name, err)
	}
	defer connection.Close()
	secured, is := connection.(*tls.Conn)
	if !is || len(secured.ConnectionState().PeerCertificates) == 0 {
		return time.Time{}, fmt.Errorf("%s shows no certificate", n.Name)
	}
	return secured.ConnectionState().PeerCertificates[0].NotAfter, nil
}

// accessValid is for how long our own certificate is asked for. A cluster may sign for a shorter time.
const accessValid = 365 * 24 * time.Hour

// renewAccess has the cluster sign another certificate for our own key.
func (c Config) renewAccess(ctx context.Context, client *kubeapi.Client, cluster kube.Cluster) error {
	request, err := adminRequest(c.Keys, cluster)
	if err != nil {
		return err
	}
	name, err := requestName(adminSubject.CommonName)
	if err != nil {
		return err
	}
	signed, err := client.Sign(ctx, name, request, accessValid)
	if err != nil {
		return err
	}
	answer, err := json.Marshal(access{CA: cluster.CA, Certificate: string(signed)})
	if err != nil {
		return fmt.Errorf("read a certificate: %w", err)
	}
	made, err := adminAnswer(c.Keys, cluster, answer)
	if err != nil {
		return fmt.Errorf("the cluster signed what can't be used: %w", err)
	}
	return c.DB.InTx(ctx, func(tx *db.Tx) error { return kube.RenewAccess(ctx, tx, cluster, made.Certificate) })
}
