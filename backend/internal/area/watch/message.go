package watch

import (
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
}

// Test is the message of a test, which the job with this id delivers.
func (c Channel) Test(job uuid.UUID, at time.Time) Message {
	return Message{
		ID: job, Kind: TestMessage, Channel: c.Name, Title: "Test of the channel " + c.Name, SentAt: at.UTC(),
		Text: "Somebody asked Kloigos for a test of this channel. Nothing is wrong.",
	}
}
