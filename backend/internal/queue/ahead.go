package queue

import (
	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// aheads undo what was made ready of jobs, by their ids.
type aheads map[uuid.UUID]func()

func (q *Queue) ahead(claims []store.Claim) aheads {
	all := aheads{}
	for _, c := range claims {
		if forget := q.makeReady(c); forget != nil {
			all[c.ID] = forget
		}
	}
	return all
}

func (q *Queue) makeReady(c store.Claim) (forget func()) {
	if q.cfg.Ahead == nil || c.State != domain.JobRunning {
		return nil
	}
	return q.cfg.Ahead(c)
}

func (a aheads) of(c store.Claim) (forget func()) {
	if forget := a[c.ID]; forget != nil {
		return forget
	}
	return func() {}
}

func (a aheads) forget() {
	for _, forget := range a {
		forget()
	}
}
