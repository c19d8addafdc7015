package kubeapi

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/websocket"
)

// execProtocol is the protocol of exec over WebSocket: each message begins with the number of its channel.
const (
	execProtocol = "v4.channel.k8s.io"
	execErrors   = 3 // channel with the outcome
	execWithin   = 15 * time.Second
	execMessage  = 64 << 10
)

// Exec asks a kubelet, through the API server, to run a program in a pod. The program need not exist: any answer of the kubelet counts
// as reached. If the API server did not reach the kubelet, ran is false, and why has the words of the API server.
func (h Health) Exec(ctx context.Context, p RunningPod, program string) (ran bool, why string, err error) {
	transport, is := h.client.http.Transport.(*http.Transport)
	if !is {
		return false, "", errors.New("the client has no connections of its own")
	}
	path := "/api/v1/namespaces/" + url.PathEscape(p.Namespace) + "/pods/" + url.PathEscape(p.Name) + "/exec"
	query := url.Values{"container": {p.Container}, "command": {program}, "stdout": {"true"}, "stderr": {"true"}}
	config, err := websocket.NewConfig("wss://"+h.client.endpoint+path+"?"+query.Encode(), "https://"+h.client.endpoint)
	if err != nil {
		return false, "", fmt.Errorf("ask for a program in a pod: %w", err)
	}
	config.Protocol = []string{execProtocol}
	ctx, cancel := context.WithTimeout(ctx, execWithin)
	defer cancel()
	conn, err := dialTLS(ctx, transport, h.client.endpoint)
	if err != nil {
		return false, "", fmt.Errorf("ask for a program in a pod: %w", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(execWithin))
	socket, err := websocket.NewClient(config, conn)
	if err != nil { // the API server answered without switching: it could not reach the kubelet, or refuses
		return false, "The API server did not begin: " + clean(err.Error()) + ".", nil
	}
	socket.MaxPayloadBytes = execMessage
	for {
		var message []byte
		if err := websocket.Message.Receive(socket, &message); err != nil {
			return false, "The connection ended without an outcome.", nil
		}
		if len(message) > 0 && message[0] == execErrors {
			return outcome(message[1:])
		}
	}
}

// outcome reads what came of a program: that there is none of this name also came from the node.
func outcome(text []byte) (ran bool, why string, err error) {
	var status struct {
		Status  string `json:"status"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
		Code    int    `json:"code"`
	}
	if err := json.Unmarshal(text, &status); err != nil {
		return false, "", fmt.Errorf("read what came of a program: %w", err)
	}
	if status.Status == "Success" || status.Reason == "NonZeroExitCode" || reachedRuntime(status.Message) {
		return true, "", nil
	}
	return false, clean(status.Message), nil
}

// runtimeSays are words of container runtimes that find no such program: only a node says them.
var runtimeSays = []string{"executable file not found", "no such file or directory", "OCI runtime exec failed", "failed to exec in container"}

func reachedRuntime(message string) bool {
	for _, words := range runtimeSays {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// dialTLS connects as the client's requests do, but speaks HTTP/1.1, which a WebSocket begins with.
func dialTLS(ctx context.Context, t *http.Transport, endpoint string) (net.Conn, error) {
	plain, err := t.DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return nil, err
	}
	config := t.TLSClientConfig.Clone()
	config.NextProtos = []string{"http/1.1"}
	if config.ServerName, _, err = net.SplitHostPort(endpoint); err != nil {
		_ = plain.Close()
		return nil, err
	}
	conn := tls.Client(plain, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = plain.Close()
		return nil, err
	}
	return conn, nil
}
