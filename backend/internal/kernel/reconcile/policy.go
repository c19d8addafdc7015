package reconcile

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Policy is one reconciliation routine, as data.
type Policy struct {
	Name string // permanent: items and conditions are stored under it
	Why  string // shown where a person meets the policy
	// Noun is what the policy looks at, one object a run. "" is for a policy about
	// the whole installation: it has one item, with the id of zeros.
	Noun     string
	Interval time.Duration // from the end of a run to the next one
	Jitter   time.Duration // at random on top of the interval
	Timeout  time.Duration // of one run
	Cap      int           // items that one reconciler has in hand at most; 0: 16
	// Triggers are the nouns whose writes make the policy due with their commit:
	// its own noun for the object that was written. A policy about the installation
	// may name any noun, but none that is written often, since all of these writes
	// meet at its one item.
	Triggers []string
	// Observes tells that Run honours Item.Observe: it looks and changes nothing.
	Observes bool
	// Objects lists the ids of the objects, ascending, behind one of them. Needed
	// for a policy with a noun.
	Objects func(ctx context.Context, after uuid.UUID, limit int) ([]uuid.UUID, error)
	// Run looks at one object and puts it right. It reads everything afresh.
	Run func(ctx context.Context, item Item) (Outcome, error)

	deadlines *Deadlines // a written object is due with the deadline of its state; nil: at once
}

// Item is one object that a run is about.
type Item struct {
	ObjectID uuid.UUID // zeros for a policy about the installation
	Observe  bool      // look, but change nothing
	Failures int       // runs that failed in a row before this one
	Token    int64     // of the last wake that the run answers
}

// Outcome is what a run did and found.
type Outcome struct {
	Changed    int64         // how many things it put right
	Conditions []Condition   // of the object, or of another one that they name
	Again      time.Duration // look again earlier than the interval says; 0: no
	Gone       bool          // the object does not exist any more: its item and its conditions go too
	AtRest     bool          // nothing is to be looked at before the object is written again: its item goes, its conditions stay
}

// Failure is an error of a run that says whose fault it is. Its message is shown
// to people. Any other error is ours, and only the log has its text.
type Failure struct {
	Reason     string // one word for programs, such as transfer_refused
	Message    string // a sentence for people
	Fault      Fault
	RetryHelps bool // false: nothing is tried before the longest backoff, or a wake
	Err        error
}

func (f *Failure) Error() string {
	if f.Err != nil {
		return f.Message + ": " + f.Err.Error()
	}
	return f.Message
}

func (f *Failure) Unwrap() error { return f.Err }

// Registry is all policies, and what is not reconciled on purpose.
type Registry struct {
	policies      []Policy // by name
	notReconciled map[string]string
	triggers      map[string][]*Policy // by noun
}

var validName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// NewRegistry checks the policies. notReconciled says for each thing that no policy
// looks at why that is so.
func NewRegistry(notReconciled map[string]string, policies ...Policy) (*Registry, error) {
	r := &Registry{policies: slices.Clone(policies), notReconciled: notReconciled, triggers: map[string][]*Policy{}}
	slices.SortFunc(r.policies, func(a, b Policy) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	for i := range r.policies {
		p := &r.policies[i]
		if err := p.check(); err != nil {
			return nil, err
		}
		if i > 0 && p.Name == r.policies[i-1].Name {
			return nil, fmt.Errorf("two policies are called %s", p.Name)
		}
		if p.Cap == 0 {
			p.Cap = defaultCap
		}
		for _, noun := range p.Triggers {
			r.triggers[noun] = append(r.triggers[noun], p)
		}
	}
	return r, nil
}

func (p *Policy) check() error {
	switch {
	case !validName.MatchString(p.Name):
		return fmt.Errorf("policy %q: use lower-case letters, digits and _; begin with a letter", p.Name)
	case p.Why == "" || p.Run == nil:
		return fmt.Errorf("policy %s: needs a reason and a function", p.Name)
	case p.Interval <= 0 || p.Timeout <= 0 || p.Jitter < 0 || p.Cap < 0:
		return fmt.Errorf("policy %s: interval and timeout must be positive", p.Name)
	case (p.Noun == "") != (p.Objects == nil):
		return fmt.Errorf("policy %s: a policy has a noun and lists its objects, or neither", p.Name)
	}
	for i, noun := range p.Triggers {
		if p.Noun != "" && noun != p.Noun {
			return fmt.Errorf("policy %s: a write of a %s names no %s; let it touch the %s", p.Name, noun, p.Noun, p.Noun)
		}
		if slices.Contains(p.Triggers[:i], noun) {
			return fmt.Errorf("policy %s: names the trigger %s twice", p.Name, noun)
		}
	}
	return nil
}

// Policies are all policies, by name.
func (r *Registry) Policies() []Policy { return r.policies }

// Policy returns one by its name.
func (r *Registry) Policy(name string) (Policy, bool) {
	if p := r.find(name); p != nil {
		return *p, true
	}
	return Policy{}, false
}

func (r *Registry) find(name string) *Policy {
	i := slices.IndexFunc(r.policies, func(p Policy) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &r.policies[i]
}

// NotReconciled says for each thing that no policy looks at why that is so.
func (r *Registry) NotReconciled() map[string]string { return r.notReconciled }

func (r *Registry) names() []string {
	names := make([]string, len(r.policies))
	for i, p := range r.policies {
		names[i] = p.Name
	}
	return names
}

// PolicyID is the id under which conditions of a policy itself are stored; their
// noun is PolicyNoun.
func PolicyID(name string) uuid.UUID { return uuid.NewSHA1(policySpace, []byte(name)) }

// PolicyNoun is the noun of conditions of policies.
const PolicyNoun = "policy"

var policySpace = uuid.MustParse("6d1f3f6e-7c0b-4d5a-9a55-0f1f7a3f2c11")
