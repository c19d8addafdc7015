package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Message is what a channel carries. A webhook gets it as JSON; mail gets its title and its text.
type Message struct {
	ID      uuid.UUID `json:"id"` // the same for every attempt, so that a receiver can tell a repetition
	Kind    string    `json:"type"`
	Channel string    `json:"channel"`
	Title   string    `json:"title"`
	Text    string    `json:"text"`
	SentAt  time.Time `json:"sent_at"`

	Problems []Trouble `json:"problems,omitempty"` // conditions that are false
	Resolved []Trouble `json:"resolved,omitempty"` // and those that hold again
}

// Test is the message of a test, which the job with this id delivers.
func (c Channel) Test(job uuid.UUID, at time.Time) Message {
	return Message{
		ID: job, Kind: TestMessage, Channel: c.Name, Title: "Test of the channel " + c.Name, SentAt: at.UTC(),
		Text: "Somebody asked Kloigos for a test of this channel. Nothing is wrong.",
	}
}

// Notice is the message that tells of conditions. Its id follows from them, so that another attempt is the same message.
func (c Channel) Notice(problems, resolved []Trouble, at time.Time) Message {
	m := Message{Kind: ConditionMessage, Channel: c.Name, SentAt: at.UTC(), Problems: problems, Resolved: resolved}
	var key, text strings.Builder
	list := func(head string, all []Trouble) {
		if len(all) == 0 {
			return
		}
		fmt.Fprintf(&text, "%s\n", head)
		for _, t := range all {
			fmt.Fprintf(&key, "%s %s/%s/%s %d\n", head, t.Noun, t.ObjectID, t.Type, t.Since.UnixNano())
			fmt.Fprintf(&text, "- %s, since %s. %s\n", t.what(), t.Since.UTC().Format("2006-01-02 15:04 UTC"), t.Message)
		}
	}
	list("Needs attention:", problems)
	list("In order again:", resolved)
	fmt.Fprintf(&key, "%d", at.Unix()/int64(Repeat/time.Second)) // a repetition is another message
	m.ID, m.Text = uuid.NewSHA1(c.ID, []byte(key.String())), text.String()
	switch {
	case len(problems)+len(resolved) > 1:
		m.Title = fmt.Sprintf("%d need attention, %d in order again", len(problems), len(resolved))
	case len(problems) == 1:
		m.Title = problems[0].what() + " needs attention"
	default:
		m.Title = resolved[0].what() + " is in order again"
	}
	return m
}

// what names the condition of an object, such as "dns zone example.org: synced".
func (t Trouble) what() string {
	return strings.ReplaceAll(t.Noun, "_", " ") + " " + t.Name + ": " + strings.ReplaceAll(t.Type, "_", " ")
}
