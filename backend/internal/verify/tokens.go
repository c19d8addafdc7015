package verify

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/store"
)

// TokenLog is what the fence of one host let in, in order
// (docs/host-contract.md: /var/log/kloigos/tokens.log).
type TokenLog struct {
	Host   string // name or id
	Tokens []Token
}

// Token is one line of a token log: a run that became the host's holder.
type Token struct {
	Line        int
	Incarnation string
	Number      int64
	Run         string // the job's id
}

// ReadTokenLogs reads every file of a directory that is called <host>.log.
func ReadTokenLogs(dir string) ([]TokenLog, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("read token logs: %w", err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return nil, fmt.Errorf("read token logs: %w", err)
	}
	if len(paths) == 0 { // an answer of "ok" would be about nothing
		return nil, fmt.Errorf("read token logs: %s has no file that is called <host>.log", dir)
	}
	logs := []TokenLog{}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read token logs: %w", err)
		}
		l := TokenLog{Host: strings.TrimSuffix(filepath.Base(path), ".log")}
		l.Tokens, err = readTokens(file)
		_ = file.Close()
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		logs = append(logs, l)
	}
	return logs, nil
}

// readTokens reads lines "TIME INCARNATION NUMBER RUN".
//
// A disk that is full cuts a line anywhere, and its run is not let in then. The
// last line without its end is one of these; others are ended by the next line's
// writer, or (until it learned that) are run into by the next line, whose four
// fields are the last. The log is append-only, so what was cut stays in it: such
// a line is no token and is passed over in silence, or nobody could verify that
// host again. Only a file that has lines and not one whole among them is refused:
// it is something else.
func readTokens(r io.Reader) (tokens []Token, err error) {
	in := bufio.NewReader(r)
	for line := 1; ; line++ {
		text, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) && len(tokens) == 0 && line > 1 {
			return nil, errors.New("no line is a time, an incarnation, a number and a run")
		}
		if errors.Is(err, io.EOF) {
			return tokens, nil
		}
		if err != nil {
			return nil, err
		}
		if t, whole := readToken(text); whole {
			t.Line = line
			tokens = append(tokens, t)
		}
	}
}

func readToken(line string) (t Token, whole bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 {
		return Token{}, false
	}
	fields = fields[len(fields)-4:]
	number, err := strconv.ParseInt(fields[2], 10, 64)
	t = Token{Incarnation: fields[1], Number: number, Run: fields[3]}
	return t, err == nil && !beginsRun(t.Run)
}

// beginsRun tells whether a word is the beginning of a job's id, or of refenced,
// and no more than that.
func beginsRun(word string) bool {
	const id = "00000000-0000-0000-0000-000000000000"
	if len(word) >= len(id) {
		return false
	}
	_, err := uuid.Parse(word + id[len(word):])
	return err == nil || word != refenced && strings.HasPrefix(refenced, word)
}

// runsOf collects the jobs that token logs name.
func runsOf(logs []TokenLog) []uuid.UUID {
	runs := []uuid.UUID{}
	for _, l := range logs {
		for _, t := range l.Tokens {
			if id, err := uuid.Parse(t.Run); err == nil {
				runs = append(runs, id)
			}
		}
	}
	return runs
}

// refenced is the run of the line that a host writes when an operator took it
// from another control plane.
const refenced = "refence"

func tokensNeverFall(g *ground) (rows []string) {
	known := map[string]store.HostSeen{} // by incarnation
	named := map[string]bool{}
	for _, h := range g.Hosts {
		known[h.Incarnation.String()] = h
		named[h.Name], named[h.ID.String()] = true, true
	}
	for _, l := range g.options.Tokens {
		if !named[l.Host] {
			rows = append(rows, fmt.Sprintf("there is a log of host %s, but no such host", l.Host))
		}
		last := map[string]Token{}
		for _, t := range l.Tokens {
			if t.Number == 0 && t.Run == refenced {
				continue
			}
			why := falls(t, last[t.Incarnation])
			// What another control plane did on the machine before is its own.
			if h, ours := known[t.Incarnation]; why == "" && ours {
				why = g.neverGiven(t, h)
			}
			if why != "" {
				rows = append(rows, fmt.Sprintf("host %s, line %d of its log: %s", l.Host, t.Line, why))
			}
			last[t.Incarnation] = t
		}
	}
	return rows
}

// falls tells what is wrong with a token after another one; "" if nothing. The
// line is written before the number is stored, so a host that was cut in
// between writes the same line again.
func falls(t, before Token) string {
	switch {
	case t.Number < before.Number:
		return fmt.Sprintf("the number fell from %d to %d", before.Number, t.Number)
	case t.Number == before.Number && t.Run != before.Run:
		return fmt.Sprintf("runs %s and %s both came with number %d", before.Run, t.Run, t.Number)
	default:
		return ""
	}
}

// neverGiven tells why a token can't have come from this control plane.
func (g *ground) neverGiven(t Token, h store.HostSeen) string {
	if t.Number > h.Number {
		return fmt.Sprintf("number %d was never given: the database has come to %d", t.Number, h.Number)
	}
	id, err := uuid.Parse(t.Run)
	if of, there := g.runs[id]; err != nil || !there || of != h.ID {
		return fmt.Sprintf("run %s is no job of this host", t.Run)
	}
	return ""
}

// ReadAcknowledged reads the ids of allocations, one a line, that clients were
// told of. An id may come more than once: its request was repeated.
func ReadAcknowledged(path string) ([]uuid.UUID, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read acknowledged allocations: %w", err)
	}
	ids := []uuid.UUID{}
	for n, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		id, err := uuid.Parse(line)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %q is not the id of an allocation", path, n+1, line)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
