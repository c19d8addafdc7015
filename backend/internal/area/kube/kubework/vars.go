package kubework

import (
	"crypto/ecdsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"kloigos/backend/internal/area/kube"
)

// Files of playbooks.
const (
	mainFile   = "playbook.yml"
	routesFile = "routes.yml"
	memberFile = "control_plane.yml"
	uploadFile = "upload.yml"
	removeFile = "remove.yml"
	bringFile  = "bring.yml"

	snapshotFile = "snapshot.yml"
	partsFile    = "parts.yml"
	forgetFile   = "forget.yml"
	receiveFile  = "receive.yml"
	restoreFile  = "restore.yml"
	restartFile  = "restart.yml"
)

// prepareVars are the variables of kube_prepare.
type prepareVars struct {
	Version  string `json:"kube_prepare_version"`
	Bundle   string `json:"kube_prepare_bundle"`
	SHA256   string `json:"kube_prepare_bundle_sha256"`
	PodRange string `json:"kube_prepare_pod_range"`
}

func (w world) prepareVars(n kube.Node) prepareVars {
	return prepareVars{Version: w.version.Name, Bundle: w.version.Bundle, SHA256: w.version.BundleSHA256, PodRange: n.PodRange}
}

// route says how the pods of another node are reached.
type route struct {
	Range string `json:"range"`
	Via   string `json:"via"`
}

// routesVars are the variables of the routes of kube_prepare.
type routesVars struct {
	Routes []route `json:"kube_routes_routes"`
}

func (w world) routesVars(n kube.Node) routesVars {
	vars := routesVars{Routes: []route{}}
	for _, other := range w.nodes {
		if other.ID != n.ID && other.InCluster() && other.HostState != kube.HostLost {
			vars.Routes = append(vars.Routes, route{Range: other.PodRange, Via: other.Address})
		}
	}
	return vars
}

// initVars are the variables of kubeadm_init.
type initVars struct {
	Version      string `json:"kubeadm_init_version"`
	Node         string `json:"kubeadm_init_node"`
	Address      string `json:"kubeadm_init_address"`
	Endpoint     string `json:"kubeadm_init_endpoint"`
	EndpointHost string `json:"kubeadm_init_endpoint_host"`
	Name         string `json:"kubeadm_init_dns_name"` // that a zone gives to the cluster; "" for none
	Cluster      string `json:"kubeadm_init_cluster"`
	ServiceRange string `json:"kubeadm_init_service_range"`
	PodRange     string `json:"kubeadm_init_pod_range"`
	Request      string `json:"kubeadm_init_request"`
	OIDCIssuer   string `json:"kubeadm_init_oidc_issuer"` // "" for no provider
	OIDCClientID string `json:"kubeadm_init_oidc_client_id"`
	OIDCUsername string `json:"kubeadm_init_oidc_username_claim"`
	OIDCGroups   string `json:"kubeadm_init_oidc_groups_claim"`
}

func (w world) initVars(n kube.Node, name string, request []byte) initVars {
	return initVars{
		Version: w.version.Name, Node: n.Name, Address: n.Address, Endpoint: w.Endpoint, EndpointHost: w.endpointHost(), Name: name, Cluster: w.Name,
		ServiceRange: w.ServiceRange, PodRange: w.PodRange, Request: string(request),
		OIDCIssuer: w.OIDCIssuer, OIDCClientID: w.OIDCClientID, OIDCUsername: w.OIDCUsername, OIDCGroups: w.OIDCGroups,
	}
}

// joinVars are the variables of kubeadm_join.
type joinVars struct {
	Node     string `json:"kubeadm_join_node"`
	Address  string `json:"kubeadm_join_address"`
	Endpoint string `json:"kubeadm_join_endpoint"`
	Token    string `json:"kubeadm_join_token"`
	CAHash   string `json:"kubeadm_join_ca_hash"`
}

func (w world) joinVars(n kube.Node, token, hash string) joinVars {
	return joinVars{Node: n.Name, Address: n.Address, Endpoint: w.Endpoint, Token: token, CAHash: hash}
}

// memberVars are the variables of the control planes of kubeadm_join.
type memberVars struct {
	Node           string `json:"kubeadm_join_control_plane_node"`
	Address        string `json:"kubeadm_join_control_plane_address"`
	Endpoint       string `json:"kubeadm_join_control_plane_endpoint"`
	Token          string `json:"kubeadm_join_control_plane_token"`
	CAHash         string `json:"kubeadm_join_control_plane_ca_hash"`
	CertificateKey string `json:"kubeadm_join_control_plane_certificate_key"`
}

func (w world) memberVars(n kube.Node, token, hash, key string) memberVars {
	return memberVars{Node: n.Name, Address: n.Address, Endpoint: w.Endpoint, Token: token, CAHash: hash, CertificateKey: key}
}

// uploadVars are the variables of the control plane that hands the keys of the cluster to one that joins.
type uploadVars struct {
	Version        string `json:"kubeadm_upload_version"`
	Node           string `json:"kubeadm_upload_node"`
	Address        string `json:"kubeadm_upload_address"`
	Endpoint       string `json:"kubeadm_upload_endpoint"`
	CertificateKey string `json:"kubeadm_upload_certificate_key"`
}

func (w world) uploadVars(n kube.Node, key string) uploadVars {
	return uploadVars{Version: w.KubeVersion, Node: n.Name, Address: n.Address, Endpoint: w.Endpoint, CertificateKey: key}
}

// etcdVars are the variables of a look at etcd.
type etcdVars struct {
	Node string `json:"kube_etcd_status_node"`
}

// etcdRemoveVars are the variables of the removal of a member of etcd.
type etcdRemoveVars struct {
	Member  string `json:"kube_etcd_remove_member"`
	Address string `json:"kube_etcd_remove_address"`
}

// resetVars are the variables of kubeadm_reset.
type resetVars struct {
	Node string `json:"kubeadm_reset_node"`
}

func (w world) resetVars(n kube.Node) resetVars { return resetVars{Node: n.Name} }

// adminSubject is who Kloigos is in a cluster: a member of the group that kubeadm binds to cluster-admin, which an
// administrator of the cluster can take that away from.
var adminSubject = pkix.Name{CommonName: "kloigos", Organization: []string{"kubeadm:cluster-admins"}}

// adminRequest is the request for our own certificate. The key never leaves this side.
func (s steps) adminRequest(c kube.Cluster) ([]byte, error) {
	key, err := s.adminKey(c)
	if err != nil {
		return nil, err
	}
	return requestFor(key, adminSubject)
}

func (s steps) adminKey(c kube.Cluster) (*ecdsa.PrivateKey, error) {
	text, err := c.OpenAdminKey(s.Keys)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the key of the cluster is not readable")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the key of the cluster: %w", err)
	}
	made, is := key.(*ecdsa.PrivateKey)
	if !is {
		return nil, errors.New("the key of the cluster is of another kind")
	}
	return made, nil
}

// access is what the first control plane answers: nothing of it is secret.
type access struct {
	CA          string `json:"ca"`
	Certificate string `json:"certificate"`
}

// adminAnswer reads what a host answered, and believes only a certificate for our key that its authority signed.
func (s steps) adminAnswer(c kube.Cluster, answer json.RawMessage) (access, error) {
	var made access
	if err := json.Unmarshal(answer, &made); err != nil {
		return access{}, errors.New("it is no JSON")
	}
	made.CA, made.Certificate = strings.TrimSpace(made.CA)+"\n", strings.TrimSpace(made.Certificate)+"\n"
	roots := x509.NewCertPool()
	block, _ := pem.Decode([]byte(made.Certificate))
	if !roots.AppendCertsFromPEM([]byte(made.CA)) || block == nil {
		return access{}, errors.New("it has no certificates")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return access{}, errors.New("its certificate can't be read")
	}
	key, err := s.adminKey(c)
	if err != nil {
		return access{}, err
	}
	public, is := certificate.PublicKey.(*ecdsa.PublicKey)
	if !is || !public.Equal(&key.PublicKey) {
		return access{}, errors.New("its certificate is for another key")
	}
	_, err = certificate.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: time.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		return access{}, errors.New("its certificate is not signed by its authority")
	}
	return made, nil
}

// Run is one file of a playbook as the jobs about clusters run it.
type Run struct {
	Role string // that takes the variables
	Vars any    // their shape
}

// Playbooks are those of the jobs about clusters, with the files that they run.
func Playbooks() map[string]map[string]Run {
	return map[string]map[string]Run{
		kube.PreparePlaybook: {mainFile: {"kube_prepare", prepareVars{}}, routesFile: {"kube_routes", routesVars{}}},
		kube.InitPlaybook:    {mainFile: {"kubeadm_init", initVars{}}},
		kube.JoinPlaybook: {
			mainFile: {"kubeadm_join", joinVars{}}, memberFile: {"kubeadm_join_control_plane", memberVars{}}, uploadFile: {"kubeadm_upload", uploadVars{}},
		},
		kube.EtcdPlaybook: {
			mainFile: {"kube_etcd_status", etcdVars{}}, removeFile: {"kube_etcd_remove", etcdRemoveVars{}}, snapshotFile: {"kube_etcd_snapshot", snapshotVars{}},
			partsFile: {"kube_etcd_parts", partsVars{}}, forgetFile: {"kube_etcd_forget", forgetVars{}}, receiveFile: {"kube_etcd_receive", sendVars{}},
			restoreFile: {"kube_etcd_restore", restoreVars{}}, restartFile: {"kube_etcd_restart", restartVars{}},
		},
		kube.UpgradePlaybook: {
			bringFile: {"kubeadm_upgrade_bring", bringVars{}}, memberFile: {"kubeadm_upgrade_control_plane", planeVars{}}, mainFile: {"kubeadm_upgrade_node", nodeVars{}},
		},
		kube.CertsPlaybook: {mainFile: {"kubeadm_certs", certsVars{}}},
		kube.ResetPlaybook: {mainFile: {"kubeadm_reset", resetVars{}}},
	}
}
