package release

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/rollout"
)

// DeliveryNoun names deliveries of releases in events, policies and problems.
const DeliveryNoun = "release_delivery"

// Kinds of targets. They stand where other rollouts have a zone.
const (
	BackendKind = "backend"
	WebAppKind  = "web app"
)

// Delivery brings a release to the machines of backends and web apps, one after the other.
type Delivery struct {
	ID        uuid.UUID     `db:"id"`
	Name      string        `db:"name"`
	Version   string        `db:"version"`
	State     rollout.State `db:"state"`
	Plan      rollout.Plan  `db:"plan"`
	Wave      int64         `db:"wave"`
	Waves     int64         `db:"waves"`
	Reason    string        `db:"reason"`
	NextAt    *time.Time    `db:"next_at"`
	EndedAt   *time.Time    `db:"ended_at"`
	Revision  int64         `db:"revision"` // counts changes; the ETag
	CreatedAt time.Time     `db:"created_at"`
	UpdatedAt time.Time     `db:"updated_at"`
}

// Rollout is how far the delivery is.
func (d Delivery) Rollout() rollout.Rollout {
	return rollout.Rollout{
		ID: d.ID, State: d.State, Plan: d.Plan, Wave: d.Wave, Waves: d.Waves, Reason: d.Reason, NextAt: d.NextAt, EndedAt: d.EndedAt, Version: d.Revision,
		UpdatedAt: d.UpdatedAt,
	}
}

// DeliveryDraft is what somebody asks for.
type DeliveryDraft struct {
	Name, Version string
	WebApps       []string // base URL of each web app by itself, not of what balances them
	Plan          rollout.Plan
}

var (
	deliveryName = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,62}$`)
	version      = regexp.MustCompile(`^[A-Za-z0-9(][A-Za-z0-9._+()-]{0,63}$`)
)

const maxWebApps = 100

func (d *DeliveryDraft) check(rule egress.Rule) error {
	var bad fault.Invalid
	if !deliveryName.MatchString(d.Name) {
		bad.Add("name", "Use lower-case letters, digits, `_`, `.` and `-`; begin with a letter.")
	}
	if !version.MatchString(d.Version) {
		bad.Add("release", "Use the version as the System page shows it, such as v1.5.0.")
	}
	if len(d.WebApps) > maxWebApps {
		bad.Add("web_apps", "Name at most %d web apps.", maxWebApps)
	}
	seen := map[string]bool{}
	for i, text := range d.WebApps {
		checked, err := rule.CheckURL(text)
		u, parsed := url.Parse(checked)
		switch field := fmt.Sprintf("web_apps[%d]", i); {
		case err != nil:
			bad.Add(field, "%s", err.Error())
		case parsed != nil || u.RawQuery != "" || strings.Trim(u.Path, "/") != "":
			bad.Add(field, "Use scheme, name and port only, such as https://web-1.example.org:8090.")
		case seen[u.Host]:
			bad.Add(field, "It is named twice.")
		default:
			seen[u.Host], d.WebApps[i] = true, u.Scheme+"://"+u.Host
		}
	}
	d.Plan.Check(&bad)
	return bad.OrNil()
}

func (d Delivery) facts() map[string]any {
	return map[string]any{"version": d.Version, "state": d.State, "wave": d.Wave, "waves": d.Waves, "reason": d.Reason}
}

// targetID is the same for the same machine or web app in every delivery.
func targetID(kind, name string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("release/"+kind+"/"+name))
}

// Machine is where backends run.
type Machine struct {
	Name     string    `db:"name"`
	Versions []string  `db:"versions"` // of the backends that are alive there
	Since    time.Time `db:"since"`    // the youngest of them was started
	Now      time.Time `db:"now"`
}

func (m Machine) candidate() rollout.Candidate {
	return rollout.Candidate{ID: targetID(BackendKind, m.Name), Name: m.Name, Zone: BackendKind}
}

// WebApp is a web app as it answered last.
type WebApp struct {
	TargetID uuid.UUID `db:"target_id"`
	URL      string    `db:"url"`
	Runs     string    `db:"runs"`
	Problem  string    `db:"problem"`
	Since    time.Time `db:"since"`
	Now      time.Time `db:"now"`
}

func webAppCandidate(base string) rollout.Candidate {
	_, name, _ := strings.Cut(base, "://")
	return rollout.Candidate{ID: targetID(WebAppKind, name), Name: name, Zone: WebAppKind}
}

// Running says which versions run on a target, by its id.
func Running(machines []Machine, apps []WebApp) map[uuid.UUID]string {
	all := make(map[uuid.UUID]string, len(machines)+len(apps))
	for _, m := range machines {
		all[m.candidate().ID] = strings.Join(m.Versions, ", ")
	}
	for _, a := range apps {
		all[a.TargetID] = a.Runs
	}
	return all
}

// findMachine judges a machine that was told. soak is how long the version must run.
func (d Delivery) findMachine(m Machine, known bool, soak time.Duration, back bool) rollout.Finding {
	others := slices.DeleteFunc(slices.Clone(m.Versions), func(v string) bool { return v == d.Version })
	ours := len(m.Versions) - len(others)
	switch {
	case !known:
		return rollout.Finding{Reason: "No backend of this machine is alive."}
	case back && ours == 0:
		return rollout.Finding{Verdict: rollout.Good, Reason: fmt.Sprintf("It runs %s.", strings.Join(others, ", "))}
	case back:
		return rollout.Finding{Reason: fmt.Sprintf("It runs %s. Replace the program there by the one before.", d.Version)}
	case len(others) > 0:
		return rollout.Finding{Reason: fmt.Sprintf("It runs %s. Replace the program there now, and restart it.", strings.Join(others, ", "))}
	}
	return d.soaked(m.Since, m.Now, soak)
}

func (d Delivery) findWebApp(a WebApp, soak time.Duration, back bool) rollout.Finding {
	switch {
	case a.Problem != "":
		return rollout.Finding{Reason: a.Problem}
	case a.Runs == "":
		return rollout.Finding{Reason: "It was not asked for its version yet."}
	case back && a.Runs != d.Version:
		return rollout.Finding{Verdict: rollout.Good, Reason: fmt.Sprintf("It runs %s.", a.Runs)}
	case back:
		return rollout.Finding{Reason: fmt.Sprintf("It runs %s. Replace the program there by the one before.", d.Version)}
	case a.Runs != d.Version:
		return rollout.Finding{Reason: fmt.Sprintf("It runs %s. Replace the program there now, and restart it.", a.Runs)}
	}
	return d.soaked(a.Since, a.Now, soak)
}

func (d Delivery) soaked(since, now time.Time, soak time.Duration) rollout.Finding {
	if now.Sub(since) < soak {
		return rollout.Finding{Reason: fmt.Sprintf("It runs %s; new faults are waited for until it has run for %s.", d.Version, soak)}
	}
	return rollout.Finding{Verdict: rollout.Good, Reason: fmt.Sprintf("It runs %s, and nothing new is wrong.", d.Version)}
}
