package playbooks

import (
	"os/exec"
	"testing"
)

// askedEtcd has the module ask an etcd that answers without TLS, at the place that a test names after the module was read.
const askedEtcd = `
import http.server, importlib.util, json, ssl, sys, threading
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_etcd", "library/kloigos_etcd.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)

class Answers(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        answer = {"members": [{"name": "k1", "peerURLs": ["https://192.0.2.1:2380"], "clientURLs": [HERE]}]}
        if self.path == "/v3/maintenance/status":
            answer = {"dbSize": "4096", "leader": "7", "raftAppliedIndex": "41"}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass

class Trust:
    def load_cert_chain(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Answers)
threading.Thread(target=server.serve_forever, daemon=True).start()
HERE = "http://127.0.0.1:%d" % server.server_port
m.ENDPOINT, m.CLIENT_URL = HERE, m.re.compile("http://.*")
m.ssl.create_default_context = lambda **_: None
m.Etcd.__init__ = lambda self, module: (m.Work.__init__(self, module), setattr(self, "trust", None))[0]

class Module:
    check_mode = False
    params = {"state": "status", "node": "k1", "address": None}

etcd = m.Etcd(Module())
etcd.status()
print(json.dumps(etcd.result, sort_keys=True))
`

func TestEtcdIsAskedWhereItIs(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	out, err := exec.Command(python, "-B", "-c", askedEtcd).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := `{"members": [{"applied": 41, "healthy": true, "learner": false, "name": "k1", "peers": ["https://192.0.2.1:2380"], "size": 4096, "why": ""}]}` + "\n"
	if string(out) != want {
		t.Errorf("%s, want %s", out, want)
	}
}
