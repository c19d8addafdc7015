package proxy

import (
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgproto3"
)

// phase is where a connection's transaction stands, as far as PostgreSQL does not know it.
type phase int

const (
	outside   phase = iota // of any transaction
	within                 // one, which PostgreSQL knows as well
	committed              // by the release of its savepoint: only COMMIT may follow
	refused                // its release was: PostgreSQL may have ended it, the client may restart it
)

// own is the name of the prepared statement and the portal that the proxy uses.
const own = "kloigos_proxy"

// step is one statement of those that stand for one of the client's.
type step struct {
	sql  string
	told bool // the client hears of its end
	ends kind // what ends with it
}

// answer is what the server owes for one message.
type reply struct {
	to    byte // the message's type
	mute  bool // not for the client
	steps []step
	ends  kind // what ends with it, if it is one

	control bool // one of the steps controls a transaction
}

// session is one connection.
type session struct {
	proxy  *Proxy
	client *pgproto3.Backend
	server *pgproto3.Frontend

	mu       sync.Mutex
	owed     []reply
	phase    phase
	failed   bool // PostgreSQL's transaction is
	over     bool // what is asked until the next Sync, or the end of the query, is passed over
	readOnly bool
	kinds    map[string]kind // of prepared statements
	portals  map[string]kind
}

// logIn passes on what is said until the server is ready.
func (s *session) logIn(begins *pgproto3.StartupMessage) error {
	begins.Parameters["default_transaction_isolation"] = "serializable"
	s.server.Send(begins)
	if err := s.server.Flush(); err != nil {
		return err
	}
	for {
		m, err := s.server.Receive()
		if err != nil {
			return err
		}
		asks, ready := false, false
		switch m := m.(type) {
		case *pgproto3.AuthenticationSASL, *pgproto3.AuthenticationSASLContinue, *pgproto3.AuthenticationMD5Password, *pgproto3.AuthenticationCleartextPassword:
			asks = true
		case *pgproto3.ParameterStatus:
			if m.Name == "server_version" { // as a CockroachDB has it
				m.Value = "13.0.0"
				s.client.Send(&pgproto3.ParameterStatus{Name: "crdb_version", Value: "CockroachDB CCL " + s.proxy.options.Version})
			}
		case *pgproto3.ReadyForQuery:
			ready = true
		}
		s.client.Send(m)
		if err := s.client.Flush(); err != nil || ready {
			return err
		}
		if asks {
			if err := s.answersLogIn(m); err != nil {
				return err
			}
		}
	}
}

func (s *session) answersLogIn(asked pgproto3.BackendMessage) error {
	var of uint32
	switch asked.(type) {
	case *pgproto3.AuthenticationSASL:
		of = pgproto3.AuthTypeSASL
	case *pgproto3.AuthenticationSASLContinue:
		of = pgproto3.AuthTypeSASLContinue
	case *pgproto3.AuthenticationMD5Password:
		of = pgproto3.AuthTypeMD5Password
	default:
		of = pgproto3.AuthTypeCleartextPassword
	}
	if err := s.client.SetAuthType(of); err != nil {
		return err
	}
	m, err := s.client.Receive()
	if err != nil {
		return err
	}
	s.server.Send(m)
	return s.server.Flush()
}

// ask passes on what the client says.
func (s *session) ask() {
	for {
		m, err := s.client.Receive()
		if err != nil {
			return
		}
		s.mu.Lock()
		flush := s.pass(m)
		s.mu.Unlock()
		if flush {
			err = s.server.Flush()
		}
		if _, bye := m.(*pgproto3.Terminate); bye || err != nil {
			return
		}
	}
}

// pass passes a message on, and tells whether what was passed on must be sent now.
func (s *session) pass(m pgproto3.FrontendMessage) (flush bool) {
	switch m := m.(type) {
	case *pgproto3.Query:
		s.query(m.String)
		return true
	case *pgproto3.Parse:
		s.kinds[m.Name] = kindOf(m.Query)
		m.Query = s.proxy.rewritten(m.Query)
		s.send(m, reply{to: 'P'})
	case *pgproto3.Bind:
		s.portals[m.DestinationPortal] = s.kinds[m.PreparedStatement]
		s.send(m, reply{to: 'B'})
	case *pgproto3.Describe:
		s.send(m, reply{to: 'D'})
	case *pgproto3.Execute:
		s.execute(m)
	case *pgproto3.Close:
		s.send(m, reply{to: 'C'})
	case *pgproto3.Sync:
		s.over = false
		s.send(m, reply{to: 'S'})
		return true
	default: // Flush, Terminate, COPY
		s.server.Send(m)
		return true
	}
	return false
}

func (s *session) send(m pgproto3.FrontendMessage, r reply) {
	s.server.Send(m)
	s.owed = append(s.owed, r)
}

func (s *session) query(sql string) {
	all := reply{to: 'Q'}
	var texts []string
	for _, part := range split(sql) {
		k := kindOf(part)
		steps := s.steps(k)
		if steps == nil {
			steps = []step{{sql: s.proxy.rewritten(part), told: true}}
		}
		for _, one := range steps {
			texts = append(texts, one.sql)
		}
		for i := range steps {
			steps[i].ends = k
		}
		all.control = all.control || k.controls()
		all.steps = append(all.steps, steps...)
	}
	if !all.control { // it may be several, of which none controls a transaction
		all.steps = nil
	}
	s.over = false
	s.send(&pgproto3.Query{String: strings.Join(texts, "; ")}, all)
}

func (s *session) execute(m *pgproto3.Execute) {
	k := s.portals[m.Portal]
	steps := s.steps(k)
	if steps == nil {
		s.send(m, reply{to: 'E', ends: k})
		return
	}
	for _, one := range steps {
		s.send(&pgproto3.Close{ObjectType: 'S', Name: own}, reply{to: 'C', mute: true})
		s.send(&pgproto3.Parse{Name: own, Query: one.sql}, reply{to: 'P', mute: true})
		s.send(&pgproto3.Bind{PreparedStatement: own, DestinationPortal: own}, reply{to: 'B', mute: true})
		s.send(&pgproto3.Execute{Portal: own}, reply{to: 'E', mute: !one.told, ends: k})
		s.send(&pgproto3.Close{ObjectType: 'P', Name: own}, reply{to: 'C', mute: true})
	}
}

// steps moves the phase on by a statement, and returns what stands for it; nil: it, as it is.
func (s *session) steps(k kind) []step {
	p := s.proxy
	switch {
	case s.over:
		return nil
	case s.phase == committed && k != commit && k != rollback:
		return s.fails(step{sql: sqlDone, told: true})
	case s.phase == refused && k != restart && k != commit && k != rollback:
		return s.fails(step{sql: sqlAborted, told: true})
	}
	switch k {
	case begin, beginReadOnly:
		s.phase, s.readOnly = within, k == beginReadOnly
	case release:
		switch {
		case s.phase != within || s.failed: // PostgreSQL says what is wrong with that
			return []step{{sql: "RELEASE SAVEPOINT cockroach_restart", told: true}}
		case p.drawn(p.options.Refuse):
			p.refused.Add(1)
			return s.fails(step{sql: sqlRetry, told: true})
		case p.drawn(p.options.Unknown):
			return s.doubt()
		}
		s.phase = committed
	case restart:
		if s.phase == outside {
			return []step{{sql: "ROLLBACK TO SAVEPOINT cockroach_restart", told: true}}
		}
		p.restarts.Add(1)
		s.phase, s.failed = within, false
		again := sqlBegin
		if s.readOnly {
			again += " READ ONLY"
		}
		return []step{{sql: "ROLLBACK", told: true}, {sql: again, told: false}, {sql: sqlSavepoint, told: false}}
	case commit:
		was := s.phase
		s.phase = outside
		switch {
		case was != within || s.failed:
		case p.drawn(p.options.Commits):
			p.refused.Add(1)
			return s.fails(step{sql: "ROLLBACK", told: false}, step{sql: sqlRetry, told: true})
		case p.drawn(p.options.Unknown):
			return s.doubt()
		}
	case rollback:
		s.phase = outside
	case read:
		if s.phase == outside && p.drawn(p.options.Reads) {
			p.refused.Add(1)
			return s.fails(step{sql: sqlRetry, told: true})
		}
	}
	return nil
}

// doubt ends a transaction one way or the other, and does not say which.
func (s *session) doubt() []step {
	s.phase = outside
	end := "ROLLBACK"
	if s.proxy.drawn(0.5) {
		end = "COMMIT"
	}
	return s.fails(step{sql: end, told: false}, step{sql: sqlUnknown, told: true})
}

// fails says that the last of some steps will.
func (s *session) fails(steps ...step) []step {
	s.over = true
	return steps
}

// answer passes on what the server says.
func (s *session) answer() {
	for {
		m, err := s.server.Receive()
		if err != nil {
			return
		}
		s.mu.Lock()
		told := s.heard(m)
		s.mu.Unlock()
		if told != nil {
			s.client.Send(told)
		}
		switch m.(type) {
		case *pgproto3.ReadyForQuery:
			s.proxy.trips.Add(1)
			err = s.client.Flush()
		case *pgproto3.ErrorResponse, *pgproto3.CopyInResponse, *pgproto3.CopyOutResponse, *pgproto3.CopyBothResponse:
			err = s.client.Flush()
		}
		if err != nil {
			return
		}
	}
}

// heard returns what the client hears of a message; nil: nothing.
func (s *session) heard(m pgproto3.BackendMessage) pgproto3.BackendMessage {
	switch m := m.(type) {
	case *pgproto3.ParseComplete, *pgproto3.BindComplete, *pgproto3.CloseComplete, *pgproto3.NoData, *pgproto3.PortalSuspended, *pgproto3.EmptyQueryResponse:
		return s.paid(m)
	case *pgproto3.RowDescription:
		return s.paid(m)
	case *pgproto3.CommandComplete:
		return s.completed(m)
	case *pgproto3.NoticeResponse:
		if m.Code == "25P01" { // there is no transaction: COMMIT after the release
			return nil
		}
	case *pgproto3.ErrorResponse:
		s.stumbled(m)
	case *pgproto3.ReadyForQuery:
		if len(s.owed) > 0 && (s.owed[0].to == 'S' || s.owed[0].to == 'Q') {
			s.owed = s.owed[1:]
		}
		s.failed = m.TxStatus == 'E'
		switch {
		case s.phase == committed:
			m.TxStatus = 'T'
		case s.phase == refused:
			m.TxStatus = 'E'
		case m.TxStatus == 'I':
			s.phase = outside
		default:
			s.phase = within
		}
	}
	return m
}

// paid takes one message off what the server owes.
func (s *session) paid(m pgproto3.BackendMessage) pgproto3.BackendMessage {
	if len(s.owed) == 0 || s.owed[0].to == 'Q' { // a query's answer ends when the server is ready
		return m
	}
	first := s.owed[0]
	s.owed = s.owed[1:]
	if first.mute {
		return nil
	}
	return m
}

func (s *session) completed(m *pgproto3.CommandComplete) pgproto3.BackendMessage {
	if len(s.owed) == 0 {
		return m
	}
	first := &s.owed[0]
	if s.ending() == release && string(m.CommandTag) == "COMMIT" {
		m.CommandTag = []byte("RELEASE")
	}
	if first.to != 'Q' {
		return s.paid(m)
	}
	if len(first.steps) == 0 {
		return m
	}
	told := first.steps[0].told
	first.steps = first.steps[1:]
	if !told {
		return nil
	}
	return m
}

// ending is what the message ends that the server answers now.
func (s *session) ending() kind {
	switch {
	case len(s.owed) == 0:
		return plain
	case len(s.owed[0].steps) > 0:
		return s.owed[0].steps[0].ends
	}
	return s.owed[0].ends
}

// stumbled notes that the server passes over all until the next Sync, or the end of the query.
func (s *session) stumbled(m *pgproto3.ErrorResponse) {
	if s.ending() == release {
		s.phase = refused
	}
	if next := slices.IndexFunc(s.owed, func(r reply) bool { return r.to == 'S' || r.to == 'Q' }); next >= 0 {
		s.owed = s.owed[next:]
	}
	switch m.Code {
	case "40P01": // CockroachDB ends a deadlock by a restart of one of the transactions
		m.Code = "40001"
	case "25P03": // its own words, as seen on a release of 2026
		m.Severity, m.SeverityUnlocalized, m.Code = "ERROR", "ERROR", "XXUUU"
		m.Message = "read tcp 127.0.0.1:26257->127.0.0.1:1: i/o timeout"
	}
}
