package kubework

import (
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
