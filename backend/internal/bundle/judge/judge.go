// Package judge owns the process that judges texts which Ansible would evaluate.
//
// Whether a template is harmless is judged on the tree of Jinja's own parser, after the same preparation that Ansible
// gives to a text, by a program for the Python that runs Ansible. One process does it for all uploads of a backend, one
// request at a time; a request that takes too long, and one whose caller is gone, costs the process, and the next one
// starts another.
//
// It refuses to guess: without Ansible and Jinja, with an Ansible that prepares texts in a way that is not known, or where the
// wall around it can't be built, every answer is [ErrUnavailable].
package judge

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"kloigos/backend/internal/wall"
)

//go:embed judge.py
var program string

const (
	// timeout of one request: some ten times what the largest one takes that the gate lets come here.
	timeout = 10 * time.Second
	// startTimeout is for the start of Python on a busy machine.
	startTimeout = 30 * time.Second
	maxAnswer    = 4 << 20
	maxMemory    = 400 << 20 // bytes of address space, as the program itself has it
)

// ErrUnavailable is in every error that says that nothing can be judged on this machine.
var ErrUnavailable = errors.New("templates can't be judged here")

// ErrTooSlow is in the error of a request that is not judged in its time.
var ErrTooSlow = errors.New("the templates could not be judged in time")

// Kind is what a text is to Ansible.
type Kind string

const (
	// Template has {{ }}, {% %} or {# #} in it.
	Template Kind = "template"
	// Condition is an expression without {{ }}.
	Condition Kind = "condition"
	// Loop is the value of loop where it is a text.
	Loop Kind = "loop"
)

// Text is one text to be judged.
type Text struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"`
	// Role is the role whose files a lookup may name; empty outside of roles.
	Role string `json:"role,omitempty"`
}

// Request is what is judged at a time.
type Request struct {
	Texts []Text `json:"texts"`
	// Roles are the files of each role, by their paths in it.
	Roles map[string][]string `json:"roles"`
	// Job are the job's variables, which Ansible never evaluates.
	Job []string `json:"job"`
}

// Finding is something about a text: a fault, or the name of a variable that it sets.
type Finding struct {
	Text int // its index in the request
	Line int // in the text, from 1
	What string
}

// UnmarshalJSON reads [text, line, what].
func (f *Finding) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&f.Text, &f.Line, &f.What})
}

// Answer is empty if nothing is wrong.
type Answer struct {
	Faults   []Finding `json:"faults"`
	Declared []Finding `json:"declared"`
}

// Judge is safe for concurrent use.
type Judge struct {
	python  string
	timeout time.Duration
	turn    chan *process // holds the process, or nil for none; who takes it out has the turn
}

// New returns a judge with the Python that runs ansible-playbook, which is looked for as a play does it.
func New(ansiblePlaybook string) *Judge {
	j := &Judge{python: interpreter(ansiblePlaybook), timeout: timeout, turn: make(chan *process, 1)}
	j.turn <- nil
	return j
}

// interpreter is what the first line of ansible-playbook names; "" if there is none.
func interpreter(ansiblePlaybook string) string {
	path, err := exec.LookPath(ansiblePlaybook)
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 512)).ReadString('\n')
	fields := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(fields) == 0 {
		return ""
	}
	if filepath.Base(fields[0]) == "env" && len(fields) > 1 {
		fields = fields[len(fields)-1:]
	}
	python, err := exec.LookPath(fields[0])
	if err != nil {
		return ""
	}
	return python
}

// Close ends the process. The judge may be used again.
func (j *Judge) Close() {
	if p := <-j.turn; p != nil {
		p.end()
	}
	j.turn <- nil
}

// Judge waits for its turn, and for the answer. It ends with ctx, at once.
func (j *Judge) Judge(ctx context.Context, r Request) (Answer, error) {
	var none Answer
	var p *process
	select {
	case p = <-j.turn:
	case <-ctx.Done():
		return none, fmt.Errorf("judge templates: %w", ctx.Err())
	}
	defer func() { j.turn <- p }()
	if p == nil {
		var err error
		if p, err = start(ctx, j.python); err != nil {
			p = nil
			return none, fmt.Errorf("judge templates: %w", err)
		}
	}
	answer, err := p.ask(ctx, j.timeout, r)
	if err != nil {
		p.end()
		said := lastLine(p.said.String())
		p = nil
		return none, fmt.Errorf("judge templates: %w%s", err, said)
	}
	return answer, nil
}

// lastLine is the end of what a program said, as it can be appended to an error.
func lastLine(said string) string {
	said = strings.TrimSpace(said)
	if said == "" {
		return ""
	}
	return ": " + said[strings.LastIndex(said, "\n")+1:]
}

// command runs the program behind the wall, without a network: it reads hostile text.
func command(ctx context.Context, python string) (*exec.Cmd, error) {
	if python == "" {
		return nil, fmt.Errorf("%w: ansible-playbook is not installed", ErrUnavailable)
	}
	spec := wall.Spec{ReadOnly: wall.Program(python), Limits: wall.Limits{Memory: maxMemory, Written: 1}}
	cmd, err := wall.Command(ctx, spec, []string{"LC_ALL=C.UTF-8"}, python, "-I", "-B", "-c", program)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return cmd, nil
}

// process is one process of the program.
type process struct {
	in     io.WriteCloser
	lines  chan []byte // closed at its end
	cancel context.CancelFunc
	ended  chan struct{}
	said   *bytes.Buffer // on standard error; to be read after its end
}

// start waits until the program is ready.
func start(ctx context.Context, python string) (*process, error) {
	life, cancel := context.WithCancel(context.Background()) // it outlives the request that starts it
	cmd, err := command(life, python)
	if err != nil {
		cancel()
		return nil, err
	}
	p := &process{lines: make(chan []byte), cancel: cancel, ended: make(chan struct{}), said: &bytes.Buffer{}}
	cmd.Stderr = &tail{b: p.said}
	var out io.ReadCloser
	if p.in, err = cmd.StdinPipe(); err == nil {
		out, err = cmd.StdoutPipe()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	started := make(chan error, 1)
	go func() {
		// The child is killed when the thread ends that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.ended)
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		read(life, out, p.lines)
		cancel() // an answer beyond all bounds ends it too
		_ = cmd.Wait()
	}()
	if err := <-started; err != nil {
		p.end()
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	line, err := p.next(ctx, startTimeout)
	if err != nil {
		p.end()
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: it did not start%s", ErrUnavailable, lastLine(p.said.String()))
	}
	var hello struct {
		Ready bool   `json:"ready"`
		Why   string `json:"why"`
	}
	if err := json.Unmarshal(line, &hello); err != nil || !hello.Ready {
		p.end()
		return nil, fmt.Errorf("%w: %s", ErrUnavailable, hello.Why)
	}
	return p, nil
}

// read hands on the lines of the program, until it ends or one is too long.
func read(life context.Context, out io.Reader, lines chan<- []byte) {
	defer close(lines)
	s := bufio.NewScanner(out)
	s.Buffer(nil, maxAnswer)
	for s.Scan() {
		select {
		case lines <- bytes.Clone(s.Bytes()):
		case <-life.Done():
			return
		}
	}
}

func (p *process) next(ctx context.Context, within time.Duration) ([]byte, error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case line, ok := <-p.lines:
		if !ok {
			return nil, fmt.Errorf("%w: the process that judges them ended", ErrTooSlow)
		}
		return line, nil
	case <-timer.C:
		return nil, ErrTooSlow
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *process) ask(ctx context.Context, within time.Duration, r Request) (Answer, error) {
	var a Answer
	line, err := json.Marshal(r)
	if err != nil {
		return a, err
	}
	// A process that does not read must not hold the request: it writes in the time of the answer.
	wrote := make(chan error, 1)
	go func() {
		_, err := p.in.Write(append(line, '\n'))
		wrote <- err
	}()
	answer, err := p.next(ctx, within)
	if err != nil {
		return a, err // the end of the process ends the writing
	}
	if err := <-wrote; err != nil {
		return a, fmt.Errorf("ask: %w", err)
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return a, fmt.Errorf("read answer: %w", err)
	}
	return a, nil
}

// end kills the process and waits for its end.
func (p *process) end() {
	p.cancel()
	_ = p.in.Close()
	<-p.ended
}

// tail keeps the last that is written to it.
type tail struct{ b *bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	_, _ = t.b.Write(p)
	if over := t.b.Len() - 4096; over > 0 {
		t.b.Next(over)
	}
	return len(p), nil
}
