package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/secret"
)

// ManagementNoun is a cluster of the operator that runs control planes of others.
const ManagementNoun = "management_cluster"

// How the control planes of a management cluster are reached: by an address of their own, or by one address with ports of
// their own.
const (
	LoadBalancer = "load_balancer"
	NodePort     = "node_port"
	ClusterIP    = "cluster_ip"
)

// What a management cluster has if nobody says otherwise. The version is the newest that Kamaji v1.0.0 takes.
const (
	DefaultPool          = "default"
	DefaultDataStore     = "default"
	DefaultNewestVersion = "v1.30.2"
	DefaultCapacity      = 100
	DefaultFirstPort     = 30000
)

// Ports of a control plane with an address of its own.
const (
	apiPort          = 6443
	konnectivityPort = 8132
)

// Kubernetes gives services of the type NodePort ports of this range.
const firstNodePort, lastNodePort = 30000, 32767

// maxCapacity bounds the control planes of one management cluster.
const maxCapacity = 10000

// Management is one row of kube_management_clusters, with what was seen last.
type Management struct {
	ID                uuid.UUID  `db:"id"`
	Name              string     `db:"name"`
	Pool              string     `db:"pool"`
	Active            bool       `db:"active"`
	Server            string     `db:"server"`
	CredentialsSealed []byte     `db:"credentials_sealed"`
	DataStore         string     `db:"data_store"`
	NewestVersion     string     `db:"newest_version"`
	ServiceType       string     `db:"service_type"`
	Address           string     `db:"address"`
	FirstPort         int64      `db:"first_port"`
	Capacity          int64      `db:"capacity"`
	Hosted            int64      `db:"hosted"` // control planes that it has
	Healthy           *bool      `db:"healthy"`
	Message           string     `db:"message"`
	KubeVersion       string     `db:"kubernetes_version"`
	SeenAt            *time.Time `db:"seen_at"`
	Version           int64      `db:"version"`
	CreatedAt         time.Time  `db:"created_at"`
	UpdatedAt         time.Time  `db:"updated_at"`
}

// ManagementDraft is a management cluster as an operator writes it.
type ManagementDraft struct {
	Name          string
	Kubeconfig    string // "" keeps what there is
	Pool          string
	Active        bool
	DataStore     string
	NewestVersion string
	ServiceType   string
	Address       string
	FirstPort     int64
	Capacity      int64
}

// dnsLabel is a name of an object of Kubernetes.
var dnsLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// check returns what the kubeconfig has, nil if none was given; or a fault.Invalid with all mistakes.
func (d *ManagementDraft) check(rule egress.Rule) (*Reach, error) {
	var bad fault.Invalid
	if !clusterName.MatchString(d.Name) {
		bad.Add("name", "Use 1 to 40 lower-case letters, digits and -; begin with a letter, and end with a letter or a digit.")
	}
	if !dnsLabel.MatchString(d.Pool) {
		bad.Add("pool", "Use lower-case letters, digits and -.")
	}
	if !dnsName.MatchString(d.DataStore) || len(d.DataStore) > 253 {
		bad.Add("data_store", "Use the name of a DataStore: lower-case letters, digits, - and dots.")
	}
	if !versionName.MatchString(d.NewestVersion) {
		bad.Add("newest_version", "Use the full version, such as %s.", DefaultNewestVersion)
	}
	if d.Capacity < 1 || d.Capacity > maxCapacity {
		bad.Add("capacity", "Use a number from 1 to %d.", maxCapacity)
	}
	d.checkReached(&bad)
	var reach *Reach
	if d.Kubeconfig != "" {
		found, err := ParseKubeconfig(d.Kubeconfig)
		if err == nil {
			_, err = rule.CheckServer(found.Server, APIPort)
		}
		bad.Check("kubeconfig", err)
		reach = &found
	}
	return reach, bad.OrNil()
}

func (d *ManagementDraft) checkReached(bad *fault.Invalid) {
	switch d.ServiceType {
	case LoadBalancer:
		if d.Address != "" {
			bad.Add("address", "Each control plane gets an address of its own from the load balancer. Leave it out.")
		}
		d.FirstPort = 0
		return
	case NodePort:
		if d.FirstPort < firstNodePort || d.FirstPort+2*d.Capacity-1 > lastNodePort {
			bad.Add("first_port", "Two ports for each of %d control planes must lie from %d to %d.", d.Capacity, firstNodePort, lastNodePort)
		}
	case ClusterIP:
		if d.FirstPort < 1024 || d.FirstPort+2*d.Capacity-1 > 65535 {
			bad.Add("first_port", "Two ports for each of %d control planes must lie from 1024 to 65535.", d.Capacity)
		}
	default:
		bad.Add("service_type", "Use %s, %s or %s.", LoadBalancer, NodePort, ClusterIP)
		return
	}
	if d.Address == "" {
		bad.Add("address", "Name the address or the name that leads to the control planes.")
	} else if _, err := ParseEndpoint(d.Address); err != nil || strings.Contains(d.Address, ":") {
		bad.Add("address", "Use an IPv4 address or a name in lower case, without a port.")
	}
}

// Ports of the control plane in a slot: of its API server, and of its tunnels.
func (m Management) Ports(slot int64) (api, konnectivity int64) {
	if m.FirstPort == 0 {
		return apiPort, konnectivityPort
	}
	return m.FirstPort + 2*slot, m.FirstPort + 2*slot + 1
}

// Takes tells why a management cluster takes no control plane of a version; nil if it does.
func (m Management) Takes(version string) error {
	if CompareVersions(version, m.NewestVersion) > 0 {
		return fmt.Errorf("The newest version that Kamaji takes in %s is %s.", m.Name, m.NewestVersion) //nolint:revive,staticcheck // a sentence for a person
	}
	return nil
}

// CompareVersions compares versions such as v1.36.3 by their numbers: negative if a is older than b.
func CompareVersions(a, b string) int {
	x, y := versionName.FindStringSubmatch(a), versionName.FindStringSubmatch(b)
	if x == nil || y == nil {
		return strings.Compare(a, b)
	}
	return slices.CompareFunc(x[1:], y[1:], func(p, q string) int {
		m, _ := strconv.Atoi(p) // a few digits
		n, _ := strconv.Atoi(q)
		return m - n
	})
}

// KubeletFits tells why a kubelet can't join an API server; nil if it can. A kubelet is never newer.
func KubeletFits(kubelet, server string) error {
	if !versionName.MatchString(server) {
		return fmt.Errorf("the API server has the version %s, which is no release", strconv.Quote(server))
	}
	if CompareVersions(kubelet, server) > 0 {
		return fmt.Errorf("the nodes would have %s, and their API server has %s: a kubelet may not be newer than its API server", kubelet, server)
	}
	return nil
}

// managementSealedFor is what credentials are bound to, so that they cannot be moved to another row.
func managementSealedFor(id uuid.UUID) string { return "kube_management_clusters/" + id.String() }

func (r Reach) seal(keys *secret.Keyset, id uuid.UUID) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("write the credentials of a management cluster: %w", err)
	}
	sealed, err := keys.Seal(text, managementSealedFor(id))
	if err != nil {
		return nil, fmt.Errorf("seal the credentials of a management cluster: %w", err)
	}
	return sealed, nil
}

// OpenReach returns how a management cluster is reached, with the secret part.
func (m Management) OpenReach(keys *secret.Keyset) (Reach, error) {
	plain, err := keys.Open(m.CredentialsSealed, managementSealedFor(m.ID))
	if err != nil {
		return Reach{}, fmt.Errorf("open the credentials of management cluster %s: %w", m.ID, err)
	}
	var r Reach
	if json.Unmarshal(plain, &r) != nil {
		return Reach{}, errors.New("the credentials of the management cluster are not readable")
	}
	return r, nil
}

func (m Management) draft() ManagementDraft {
	return ManagementDraft{
		Name: m.Name, Pool: m.Pool, Active: m.Active, DataStore: m.DataStore, NewestVersion: m.NewestVersion, ServiceType: m.ServiceType,
		Address: m.Address, FirstPort: m.FirstPort, Capacity: m.Capacity,
	}
}

// facts are what an event tells of a management cluster: no secrets.
func (m Management) facts() map[string]any {
	return map[string]any{
		"name": m.Name, "pool": m.Pool, "active": m.Active, "server": m.Server, "data_store": m.DataStore, "newest_version": m.NewestVersion,
		"service_type": m.ServiceType, "address": m.Address, "first_port": m.FirstPort, "capacity": m.Capacity,
	}
}
