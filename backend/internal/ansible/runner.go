package ansible

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apenella/go-ansible/v2/pkg/execute"

	"kloigos/backend/internal/wall"
)

// Config of [NewRunner]. Its zero value is usable.
type Config struct {
	// RunRoot holds the directories of the runs. It must be short (see maxRunRoot) and belong to us alone, 0700; it
	// is made if its parent exists. Default: a directory on a memory file system where there is one.
	RunRoot string
	// AnsibleBin is ansible-playbook; default: the one on the PATH.
	AnsibleBin string
	// SelfExe is the program whose main calls Supervise for SuperviseArg. Default: this very binary, also when its
	// file has been replaced since it started.
	SelfExe string
	// Forks is how many hosts of one play are worked on at a time; default 5. Each but the first costs ForkMemory.
	Forks int
	// ForksFit is asked before a play of several hosts: for how many forks is there memory beside the first? Default: all.
	ForksFit func() int
	// ConnectTimeout of ssh; default 10 s.
	ConnectTimeout time.Duration
	// Nice is added to the priority of plays, so that they leave the processors to the API; default 5.
	Nice int
	// Grace is how long a cancelled play has between SIGTERM and SIGKILL; default 500 ms.
	Grace time.Duration
	// MemoryLimit of the address space of each process, in bytes: a hostile host may answer without end. Default 4 GiB.
	MemoryLimit uint64
	// Ahead is how many plays' beginnings are made ahead of time while there is work: a supervisor with Ansible loaded,
	// some 70 MiB, which saves a play a third of a second or more. They are made when a play has begun or ended, and given
	// up after five minutes. Default none.
	Ahead int
	// MayLoad is asked before one is made, which should not take memory that is short. Default: always.
	MayLoad func() bool

	fence    string   // fencePath, except in a test
	canaries []string // none, except in a test: directories behind the wall, where what must not happen would show
}

// ForkMemory is how many bytes each fork of a play is reckoned with.
const ForkMemory = 22 << 20

// Supervised is the real [Runner].
type Supervised struct {
	config   Config
	standbys *standbys
}

var _ Runner = (*Supervised)(nil)

// NewRunner checks what a run needs, so that a wrong installation shows at the start.
func NewRunner(c Config) (*Supervised, error) {
	if c.RunRoot == "" {
		c.RunRoot = defaultRunRoot()
	}
	c.RunRoot = filepath.Clean(c.RunRoot)
	if c.AnsibleBin == "" {
		c.AnsibleBin = "ansible-playbook"
	}
	var err error
	if c.AnsibleBin, err = exec.LookPath(c.AnsibleBin); err != nil {
		return nil, fmt.Errorf("set up the Ansible runner: %w", err)
	}
	if c.AnsibleBin, err = filepath.Abs(c.AnsibleBin); err != nil {
		return nil, fmt.Errorf("set up the Ansible runner: %w", err)
	}
	if c.SelfExe == "" {
		c.SelfExe = "/proc/self/exe"
	}
	setDefault(&c.Forks, 5)
	setDefault(&c.ConnectTimeout, 10*time.Second)
	setDefault(&c.Nice, 5)
	setDefault(&c.Grace, 500*time.Millisecond)
	setDefault(&c.MemoryLimit, 4<<30)
	setDefault(&c.fence, fencePath)
	if c.MayLoad == nil {
		c.MayLoad = func() bool { return true }
	}
	if err := ensureRunRoot(c.RunRoot); err != nil {
		return nil, fmt.Errorf("set up the Ansible runner: %w", err)
	}
	if err := wall.Check(context.Background()); err != nil {
		return nil, fmt.Errorf("set up the Ansible runner: %w", err)
	}
	s := &Supervised{config: c}
	s.standbys = newStandbys(&s.config)
	return s, nil
}

// Close ends what was made ahead of time. Runs go on, and may still be begun.
func (s *Supervised) Close() { s.standbys.close() }

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Run implements [Runner].
func (s *Supervised) Run(ctx context.Context, play Play, sink func(Event)) (Outcome, error) {
	if err := play.Validate(); err != nil {
		return Outcome{}, err
	}
	standby, err := s.standbys.take(bundleOf(play))
	if err != nil {
		return Outcome{}, fmt.Errorf("run play %s: %w", play.Name, err)
	}
	run, err := s.ready(play, standby)
	if err != nil {
		return Outcome{}, fmt.Errorf("run play %s: %w", play.Name, err)
	}
	return run.carryOut(ctx, sink)
}

func bundleOf(play Play) bundle { return bundle{digest: play.BundleSHA256, unpack: play.Unpack} }

// ready prepares a run in the directory of its supervisor, which is given up where that fails.
func (s *Supervised) ready(play Play, standby *standby) (*supervisedRun, error) {
	run := &supervisedRun{config: &s.config, play: &play, dir: standby.dir, standby: standby, collect: newCollector(&play), ended: s.standbys.ended}
	prepared := false
	defer func() {
		if !prepared { // also where a caller's Unpack panicked
			run.giveUp()
		}
	}()
	if err := run.prepare(); err != nil {
		return nil, err
	}
	prepared = true
	return run, nil
}

// secrets are all strings that no event may show.
func (p *Play) secrets() []string {
	secrets := append([]string{}, p.Secrets...)
	for i := range p.Hosts {
		secrets = append(secrets, keySecrets(p.Hosts[i].PrivateKey)...)
	}
	return secrets
}

// supervisedRun is one run; it is go-ansible's Executor of the command that go-ansible has built.
type supervisedRun struct {
	config  *Config
	play    *Play
	dir     *runDir
	standby *standby
	order   []byte // a line
	collect *collector
	outcome Outcome
	ended   func() // told when nothing of it is left
}

var _ execute.Executor = (*supervisedRun)(nil)

// carryOut plays what was prepared.
func (r *supervisedRun) carryOut(ctx context.Context, sink func(Event)) (Outcome, error) {
	defer r.ended()
	begun := time.Now()
	if sink != nil {
		r.collect.sink = sink
	}
	err := r.Execute(ctx)
	if removeErr := r.dir.remove(); err == nil && removeErr != nil {
		err = fmt.Errorf("remove run directory: %w", removeErr)
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("run play %s: %w", r.play.Name, err)
	}
	r.outcome.Usage.Elapsed = time.Since(begun)
	r.finish()
	return r.outcome, nil
}

// giveUp ends a run that could not be prepared.
func (r *supervisedRun) giveUp() {
	defer r.ended()
	r.standby.giveUp(r.config.Grace + killWithin)
}

// prepare fills the run's directory.
func (r *supervisedRun) prepare() error {
	if err := r.prepareBundle(); err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	keyFiles := make([]string, len(r.play.Hosts))
	for i := range r.play.Hosts {
		name := keyFilePrefix + strconv.Itoa(i)
		keyFiles[i] = r.dir.file(name)
		// ssh wants a line break at the end.
		if err := r.dir.write(name, append([]byte(strings.TrimSpace(string(r.play.Hosts[i].PrivateKey))), '\n')); err != nil {
			return err
		}
	}
	argv, err := r.config.commandLine(r.play, r.dir)
	if err != nil {
		return err
	}
	kept := r.play.keptModules(r.config.RunRoot)
	lent := r.dir.lendModules(kept)
	order, err := json.Marshal(order{Argv: argv, Modules: lent, Keep: kept})
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	r.order = append(order, '\n')
	files := map[string]func() ([]byte, error){
		varsFile:       func() ([]byte, error) { return encodeVars(r.play.Vars) },
		inventoryFile:  func() ([]byte, error) { return inventory(r.play.Hosts, r.config.fence, keyFiles) },
		knownHostsFile: func() ([]byte, error) { return knownHosts(r.play.Hosts) },
		redactFile:     func() ([]byte, error) { return json.Marshal(r.play.secrets()) },
		connectionFile: func() ([]byte, error) {
			return json.Marshal(fixedConnection(r.play.Hosts, r.config.fence, keyFiles, r.config.sshArgs(r.dir)))
		},
	}
	for name, make := range files {
		content, err := make()
		if err != nil {
			return fmt.Errorf("prepare %s: %w", name, err)
		}
		if err := r.dir.write(name, content); err != nil {
			return err
		}
	}
	return nil
}

func (r *supervisedRun) prepareBundle() error {
	if r.standby.bundle != "" && r.standby.bundle == r.play.BundleSHA256 {
		return nil
	}
	if err := os.RemoveAll(r.dir.file(bundleDirectory)); err != nil {
		return err
	}
	if r.play.Unpack == nil {
		return os.CopyFS(r.dir.file(bundleDirectory), os.DirFS(r.play.Bundle)) // the play sees nothing outside of its directory
	}
	return unpackInto(r.dir, r.play.Unpack)
}

func unpackInto(dir *runDir, unpack func(string) error) error {
	if err := os.Mkdir(dir.file(bundleDirectory), 0o700); err != nil {
		return err
	}
	return unpack(dir.file(bundleDirectory))
}

// Execute has the supervisor play, and waits until nothing of the run is left. It implements go-ansible's Executor.
func (r *supervisedRun) Execute(ctx context.Context) error {
	if r.play.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.play.Timeout)
		defer cancel()
	}
	pipes := r.standby.pipes
	defer pipes.close()
	r.standby.begin(r.order)
	streams := r.collect.read(pipes.events.r, pipes.stdout.r, pipes.stderr.r)
	statuses := make(chan superviseStatus, 1)
	go func() {
		defer close(statuses)
		var status superviseStatus
		if json.NewDecoder(pipes.status.r).Decode(&status) == nil {
			statuses <- status
		}
	}()
	died := r.standby.wait(ctx, r.config.Grace+killWithin+2*time.Second)
	status, reported := <-statuses
	if !reported {
		status.Left = killMarked(r.dir.path, 2*time.Second)
	}
	// Nobody writes any more, and the streams end by themselves however slowly the sink takes what is in them; except
	// where a process hangs in the kernel and holds them open.
	if status.Left > 0 {
		pipes.expire(time.Second)
	}
	streams.Wait()
	switch {
	case !reported:
		return fmt.Errorf("the supervisor died (%w); %d processes of the run are left", died, status.Left)
	case status.Error != "":
		return errors.New(status.Error)
	case status.Left > 0:
		return fmt.Errorf("%d processes of the run cannot be ended", status.Left)
	}
	if reason := r.collect.notWalled(status); reason != "" {
		return fmt.Errorf("start ansible-playbook: %w: %s", wall.ErrUnavailable, reason)
	}
	var stopped FailureCode
	if status.Stopped {
		if ctx.Err() == nil {
			return errors.New("the supervisor was told to stop, and not by this backend")
		}
		stopped = CodeCancelled
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			stopped = CodeTimeout
		}
	}
	r.outcome = r.collect.outcome(status, stopped)
	r.explain(ctx)
	return nil
}

// explain finds out what a vague failure was, and whether a failed task was one that the fence had killed.
func (r *supervisedRun) explain(ctx context.Context) {
	for i := range r.outcome.Failures {
		f := &r.outcome.Failures[i]
		at := slices.IndexFunc(r.play.Hosts, func(h Host) bool { return h.Name == f.Host })
		if at < 0 || ctx.Err() != nil {
			continue
		}
		if h := &r.play.Hosts[at]; f.Code == CodeTaskFailed && h.Fence != nil {
			if message, refused := refusedByFence(ctx, h, r.config.fence, r.config.ConnectTimeout); refused {
				f.Code, f.Message = CodeFenced, strings.TrimSpace(r.collect.clean(message, maxMessage))
			}
		}
		if !f.vague() && !f.noAnswer() {
			continue
		}
		code, message, found := diagnose(ctx, &r.play.Hosts[at], r.config.ConnectTimeout)
		// Of a module that was run, only the login is in question.
		if found && (f.vague() || code == CodeAccountClosed || code == CodeLoginPrints) {
			f.Code, f.Message = code, r.collect.clean(message, maxMessage)
		}
	}
}

// finish sends the last event.
func (r *supervisedRun) finish() {
	var sum Stats
	for _, s := range r.outcome.Stats {
		sum.OK += s.OK
		sum.Changed += s.Changed
		sum.Failed += s.Failed
		sum.Unreachable += s.Unreachable
		sum.Skipped += s.Skipped
	}
	message := fmt.Sprintf("ok=%d changed=%d failed=%d unreachable=%d skipped=%d", sum.OK, sum.Changed, sum.Failed, sum.Unreachable, sum.Skipped)
	if f := r.outcome.Failure; f != nil {
		message = string(f.Code) + ": " + message
	}
	r.collect.mu.Lock()
	defer r.collect.mu.Unlock()
	r.collect.deliver(Event{Kind: EventFinished, Message: message})
}
