package kube

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net/url"

	"go.yaml.in/yaml/v3"
)

// Reach is all that is needed of a kubeconfig: where an API server is, who vouches for it, and who we are there.
type Reach struct {
	Server      string `json:"server"` // host:port
	CA          []byte `json:"ca"`     // PEM
	Certificate []byte `json:"certificate,omitempty"`
	Key         []byte `json:"key,omitempty"`
	Token       string `json:"token,omitempty"`
}

// kubeconfig is the parts of a kubeconfig that are read. Whatever would have a program run, or a file of this machine read,
// is read too: so that it can be refused.
type kubeconfig struct {
	CurrentContext string `yaml:"current-context"`
	Clusters       []struct {
		Name    string `yaml:"name"`
		Cluster struct {
			Server    string `yaml:"server"`
			CAData    string `yaml:"certificate-authority-data"`
			CAFile    string `yaml:"certificate-authority"`
			Insecure  bool   `yaml:"insecure-skip-tls-verify"`
			ProxyURL  string `yaml:"proxy-url"`
			TLSServer string `yaml:"tls-server-name"`
		} `yaml:"cluster"`
	} `yaml:"clusters"`
	Users []struct {
		Name string         `yaml:"name"`
		User kubeconfigUser `yaml:"user"`
	} `yaml:"users"`
	Contexts []struct {
		Name    string `yaml:"name"`
		Context struct {
			Cluster string `yaml:"cluster"`
			User    string `yaml:"user"`
		} `yaml:"context"`
	} `yaml:"contexts"`
}

type kubeconfigUser struct {
	CertificateData string `yaml:"client-certificate-data"`
	CertificateFile string `yaml:"client-certificate"`
	KeyData         string `yaml:"client-key-data"`
	KeyFile         string `yaml:"client-key"`
	Token           string `yaml:"token"`
	TokenFile       string `yaml:"tokenFile"`
	Username        string `yaml:"username"`
	As              string `yaml:"as"`
	Exec            any    `yaml:"exec"`
	AuthProvider    any    `yaml:"auth-provider"`
}

// MaxKubeconfig bounds the length of a kubeconfig in bytes.
const MaxKubeconfig = 64 << 10

// ParseKubeconfig reads the current context of a kubeconfig. It has to stand for itself: no programs, no files, no proxies, and an
// authority that the server is checked against. The error is a sentence for a person, without any of the text.
func ParseKubeconfig(text string) (Reach, error) {
	var file kubeconfig
	if len(text) > MaxKubeconfig || yaml.Unmarshal([]byte(text), &file) != nil {
		return Reach{}, errors.New("This is no kubeconfig.") //nolint:revive,staticcheck // a sentence for a person
	}
	cluster, user := "", ""
	for _, c := range file.Contexts {
		if c.Name == file.CurrentContext || file.CurrentContext == "" && len(file.Contexts) == 1 {
			cluster, user = c.Context.Cluster, c.Context.User
		}
	}
	var r Reach
	problem := "It has no current context with a cluster and a user."
	for _, c := range file.Clusters {
		if c.Name != cluster {
			continue
		}
		if problem = ""; c.Cluster.CAFile != "" || c.Cluster.Insecure || c.Cluster.ProxyURL != "" || c.Cluster.TLSServer != "" {
			problem = "Give the authority as certificate-authority-data, and no proxy: the server has to be checked."
		}
		r.Server, r.CA = serverOf(c.Cluster.Server), decoded(c.Cluster.CAData)
	}
	if problem == "" {
		problem = "It has no current context with a cluster and a user."
		for _, u := range file.Users {
			if u.Name == user {
				problem = u.User.into(&r)
			}
		}
	}
	switch {
	case problem != "":
	case r.Server == "":
		problem = "The server must be a URL such as https://k8s.example.org:6443."
	case !x509.NewCertPool().AppendCertsFromPEM(r.CA):
		problem = "certificate-authority-data has no certificate."
	}
	if problem != "" {
		return Reach{}, errors.New(problem)
	}
	return r, nil
}

// into takes the credentials of a user over; problem says why they are not taken.
func (u kubeconfigUser) into(r *Reach) (problem string) {
	if u.Exec != nil || u.AuthProvider != nil || u.CertificateFile != "" || u.KeyFile != "" || u.TokenFile != "" || u.Username != "" || u.As != "" {
		return "Give the credentials themselves: client-certificate-data with client-key-data, or token. Programs and files are not used."
	}
	if r.Token = u.Token; r.Token != "" {
		return ""
	}
	r.Certificate, r.Key = decoded(u.CertificateData), decoded(u.KeyData)
	if _, err := tls.X509KeyPair(r.Certificate, r.Key); err != nil {
		return "client-certificate-data and client-key-data are no certificate with its key."
	}
	return ""
}

// serverOf is 'host:port' of the URL of a server; "" if it is none.
func serverOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return ""
	}
	at := u.Host
	if u.Port() == "" {
		at += ":443"
	}
	return at
}

func decoded(text string) []byte {
	out, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return out
}
