// Package kubevm makes a cluster on a throwaway VM through the product alone: by the steps of docs/kubernetes.md, from an
// installation without a workspace for it to `kubectl get nodes`, a pod that answers, and the deletion.
//
// It owns one directory and all processes that it starts, the machine among them, and leaves none of them behind.
package kubevm

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"kloigos/rig/demo"
	"kloigos/rig/kube"
	"kloigos/rig/testhost"
)

// Options say what to do. Out must be set.
type Options struct {
	Out io.Writer
	Dir string // for everything that is written; empty: beside the demo's
	// Bundle is one that is there already; empty: one is made.
	Bundle string
	// Upgrade has the cluster upgraded while it is in use, from kube.Version to kube.NextVersion.
	Upgrade bool
	// Worker has a second VM join and leave again. It joins before the upgrade.
	Worker bool
	// ControlPlane has the second VM join as a control plane and leave again, after all that Upgrade and Worker do.
	ControlPlane bool
	// Restore puts the cluster back to a snapshot of its etcd.
	Restore bool
	// Kill has the backend of a job killed in each step of the job, while the cluster is made, restored and deleted and while a control
	// plane joins and leaves.
	Kill bool
	// KeepGoing has the machine stay after a failure until ctx ends, for a person to look at it.
	KeepGoing bool
}

// The VM. The figures are what a control plane of Kubernetes needs under emulation.
const (
	node      = "k1"
	cluster   = "apps"
	workspace = "default/default/apps"
	vmCPUs    = 2 // more than the machine has would only wait for each other
	vmMemory  = 3072
	gateway   = "10.0.2.2" // this machine, as the VM sees it
)

// Times that are three times what was seen. Where backends are killed, a step may take killTimes as long: each kill costs a lease and a play.
const (
	killTimes = 3

	createTime  = 45 * time.Minute
	podTime     = 8 * time.Minute
	upgradeTime = 30 * time.Minute
	joinTime    = 45 * time.Minute
	restoreTime = 30 * time.Minute
	deleteTime  = 10 * time.Minute
	hostTime    = 10 * time.Minute
)

type rig struct {
	*demo.Installation
	options  Options
	builder  kube.Builder
	root     string
	endpoint string            // the same on this machine and in the VM: an address of the loopback
	bundles  map[string]bundle // by version
	served   string            // URL of where they are
	before   string            // what the host showed of Kubernetes before
	digest   string            // of all that this test is about
	worker   *worker           // nil: none is wanted
}

type bundle struct{ file, digest string }

// Run does all of it and stops all that it started.
func Run(ctx context.Context, options Options) (err error) {
	r, err := prepare(options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.closeNetwork()) }()
	if err := r.ensureBundles(ctx); err != nil {
		return err
	}
	stop, err := r.serve(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if r.Installation, err = demo.Up(ctx, demo.Options{
		Out: options.Out, In: os.Stdin, Root: r.root, Dir: r.options.Dir, Backends: r.backends(), Webapps: 1, Bare: true, Check: options.Kill,
		Machine: r.machine(),
	}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.stopWorker(), r.Down()) }()
	for _, step := range r.steps() {
		err := r.Stages().Do(step.name, func() error {
			limit := step.time
			if options.Kill {
				limit *= killTimes
			}
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			return step.run(ctx)
		})
		if err != nil {
			r.failed(ctx, err)
			return err
		}
	}
	return kube.WriteTried(r.root, r.digest, r.form())
}

// form tells what was tried beside the creation and the deletion of a cluster.
func (r *rig) form() string {
	var all []string
	for _, of := range []struct {
		name string
		is   bool
	}{{"upgrade", r.options.Upgrade}, {"worker", r.options.Worker}, {"control-plane", r.options.ControlPlane}, {"restore", r.options.Restore}, {"kill", r.options.Kill}} {
		if of.is {
			all = append(all, of.name)
		}
	}
	return strings.Join(all, " ")
}

type step struct {
	name string
	time time.Duration
	run  func(context.Context) error
}

func (r *rig) steps() []step {
	all := []step{
		{"Program kloigos", hostTime, r.build},
		{"A version and a workspace", hostTime, r.offer},
		{"A host", hostTime, r.host},
		{"The cluster", createTime, r.create},
		{"kubectl get nodes", podTime, r.connect},
		{"A pod that answers", podTime, r.pod},
	}
	if r.options.Restore {
		all = append(all, step{"A snapshot is restored", restoreTime, r.restore})
	}
	if r.worker != nil {
		all = append(all, step{"A second host", hostTime, r.secondHost})
	}
	if r.options.Worker {
		all = append(all,
			step{"A worker joins", joinTime, r.join},
			step{"Pods of two nodes", podTime, r.betweenNodes})
	}
	if r.options.Upgrade {
		all = append(all,
			step{"The upgrade", upgradeTime, r.upgrade},
			step{"What the upgrade left", podTime, r.upgraded})
	}
	if r.options.Worker {
		all = append(all,
			step{"The worker leaves", joinTime, r.leave},
			step{"End state of the second host", hostTime, r.workerClean})
	}
	if r.options.ControlPlane {
		all = append(all,
			step{"A second control plane joins", createTime, r.joinPlane},
			step{"Two control planes", podTime, r.twoPlanes},
			step{"The second control plane leaves", joinTime, r.leavePlane},
			step{"End state of the second control plane", hostTime, r.workerClean})
	}
	return append(all,
		step{"Deletion", deleteTime, r.remove},
		step{"End state", hostTime, r.clean})
}

// machines are the VMs that run.
func (r *rig) machines() []*testhost.VM {
	if r.worker == nil || r.worker.vm == nil {
		return []*testhost.VM{r.VM}
	}
	return []*testhost.VM{r.VM, r.worker.vm}
}

// backends is one, or as many as it takes to have one left.
func (r *rig) backends() int {
	if r.options.Kill {
		return 2
	}
	return 1
}

// machine is the VM of the first control plane.
func (r *rig) machine() testhost.Options {
	o := testhost.Options{Hostname: node, CPUs: vmCPUs, Nodes: 1, MemoryMiB: vmMemory, Ports: map[string]string{r.endpoint: testhost.GuestAddress + ":6443"}}
	if r.worker != nil {
		o.Switch, o.Addresses = r.worker.network.Path, []string{workerAddress}
	}
	return o
}

func prepare(options Options) (*rig, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if options.Dir == "" {
		demoDir, err := demo.DefaultDir()
		if err != nil {
			return nil, err
		}
		options.Dir = filepath.Join(filepath.Dir(demoDir), "kloigos-kubevm")
	}
	if err := os.MkdirAll(options.Dir, 0o711); err != nil {
		return nil, err
	}
	cache, err := kube.DefaultDir()
	if err != nil {
		return nil, err
	}
	var b [3]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, err
	}
	// Each address of 127.0.0.0/8 leads to the machine that one is on: here to QEMU, which leads to the VM, and there to a
	// balancer there, which has to listen on another port than the API server. So one address can stand in kubeconfigs of both.
	endpoint := fmt.Sprintf("127.%d.%d.%d:7443", 1+b[0]%254, b[1], 1+b[2]%254)
	digest, err := kube.TriedDigest(root)
	if err != nil {
		return nil, err
	}
	r := &rig{options: options, root: root, digest: digest, endpoint: endpoint, builder: kube.Builder{Dir: cache, Log: options.Out}, bundles: map[string]bundle{}}
	if options.Worker || options.ControlPlane {
		network, err := testhost.NewSwitch()
		if err != nil {
			return nil, err
		}
		r.worker = &worker{network: network}
	}
	return r, nil
}

// ensureBundles makes what the catalog offers.
func (r *rig) ensureBundles(ctx context.Context) (err error) {
	fmt.Fprintln(r.options.Out, "==> Bundle")
	file := r.options.Bundle
	if file == "" {
		if file, err = r.makeBundle(ctx, kube.Version); err != nil {
			return err
		}
	}
	if err := r.addBundle(kube.Version, file); err != nil || !r.options.Upgrade {
		return err
	}
	if file, err = r.makeBundle(ctx, kube.NextVersion); err != nil {
		return err
	}
	return r.addBundle(kube.NextVersion, file)
}

func (r *rig) makeBundle(ctx context.Context, version string) (file string, err error) {
	builder := r.builder.For(version)
	if version == kube.NextVersion { // it is only linked
		if err := builder.Build(ctx, kube.BundlePrograms()...); err != nil {
			return "", err
		}
	}
	file = filepath.Join(r.options.Dir, "kubernetes-"+version+".tar")
	_, err = builder.Bundle(ctx, r.root, file)
	return file, err
}

func (r *rig) addBundle(version, file string) error {
	text, err := os.Open(file)
	if err != nil {
		return err
	}
	defer text.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, text); err != nil {
		return err
	}
	r.bundles[version] = bundle{file, hex.EncodeToString(hash.Sum(nil))}
	return nil
}

// serve hands out the bundles on this machine's loopback, which VMs reach through QEMU.
func (r *rig) serve(ctx context.Context) (stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if b, is := r.bundles[strings.Trim(q.URL.Path, "/")]; is {
			http.ServeFile(w, q, b.file)
			return
		}
		http.NotFound(w, q)
	})}
	go func() { _ = server.Serve(listener) }()
	r.served = "http://" + net.JoinHostPort(gateway, strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)) + "/"
	return func() { _ = server.Close() }, nil
}

// failed keeps what tells why, while the machine is there.
func (r *rig) failed(ctx context.Context, why error) {
	r.KeepHostJournal()
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), 4*time.Minute)
	defer cancel()
	for _, command := range []string{
		"sudo ctr -n k8s.io containers list", "sudo ctr -n k8s.io tasks list", "sudo sh -c 'for f in /var/log/pods/*/*/*.log; do echo == $f; tail -n 15 $f; done'",
		"free -m; uptime; df -h /; ip route", "sudo journalctl --no-pager --lines 40 --unit kubelet",
	} {
		for _, vm := range r.machines() {
			text, err := vm.Run(look, command)
			if err != nil {
				text += err.Error()
			}
			r.Stages().Note("%s: %s:\n%s", filepath.Base(vm.Dir), command, text)
		}
	}
	if r.options.KeepGoing {
		r.Stages().Line("failed: %v. The machines stay in %s until this program is ended.", why, r.Dir)
		<-ctx.Done()
	}
}

func (r *rig) path(name string) string { return filepath.Join(r.Dir, name) }

func (r *rig) env() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.path("home"), "LC_ALL=C.UTF-8", "KLOIGOS_WORKSPACE=" + workspace,
		"KUBECONFIG=" + r.path("home/.kube/kloigos-"+cluster),
	}
}

// run runs a program with an input, shows what it says, and returns its output.
func (r *rig) run(ctx context.Context, input, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var out bytes.Buffer
	notes := r.Stages().Writer()
	cmd.Env, cmd.Stdin = r.env(), strings.NewReader(input)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, notes), notes
	r.Stages().Note("$ %s %s", filepath.Base(program), strings.Join(args, " "))
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w", filepath.Base(program), strings.Join(args[:min(2, len(args))], " "), err)
	}
	return out.String(), nil
}

func (r *rig) kloigos(ctx context.Context, args ...string) error {
	_, err := r.run(ctx, "", r.path("bin/kloigos"), args...)
	return err
}

func (r *rig) kubectl(ctx context.Context, args ...string) (string, error) {
	return r.run(ctx, "", r.builder.Path("kubectl"), args...)
}
