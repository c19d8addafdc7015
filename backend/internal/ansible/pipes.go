package ansible

import (
	"errors"
	"os"
	"time"
)

type pipe struct{ r, w *os.File }

// pipeSet connects a backend with its supervisor. The backend's ends are never inherited by another child: Go opens
// them close-on-exec.
type pipeSet struct{ control, order, status, events, stdout, stderr pipe }

func (s *pipeSet) all() []*pipe {
	return []*pipe{&s.control, &s.order, &s.status, &s.events, &s.stdout, &s.stderr}
}

func openPipes() (*pipeSet, error) {
	s := &pipeSet{}
	for _, p := range s.all() {
		var err error
		if p.r, p.w, err = os.Pipe(); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// closeTheirs closes the supervisor's ends here, so that its end shows.
func (s *pipeSet) closeTheirs() {
	_ = errors.Join(s.control.r.Close(), s.order.r.Close(), s.status.w.Close(), s.events.w.Close(), s.stdout.w.Close(), s.stderr.w.Close())
}

// expire ends reading after d, whoever still holds a writing end.
func (s *pipeSet) expire(d time.Duration) {
	at := time.Now().Add(d)
	for _, p := range []*pipe{&s.status, &s.events, &s.stdout, &s.stderr} {
		_ = p.r.SetReadDeadline(at)
	}
}

// close may be called twice for any end.
func (s *pipeSet) close() {
	for _, p := range s.all() {
		for _, f := range []*os.File{p.r, p.w} {
			if f != nil {
				_ = f.Close()
			}
		}
	}
}
