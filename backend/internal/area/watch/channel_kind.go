package watch

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/work"
)

// ChannelRole is the role of the channel in its jobs.
const ChannelRole = "channel"

// DeliverStep is the one step of a test.
const DeliverStep = "deliver"

// ChannelTest is the job that delivers a test message. It tries as often as a notification is tried.
var ChannelTest = work.Kind{
	Name:     "channel_test",
	Means:    "delivers a test message through a notification channel",
	Steps:    []work.Step{{Name: DeliverStep, Means: "send the message; after a failure that may heal, wait and send it again", Within: 15 * time.Minute}},
	Deadline: time.Hour,
}

// ChannelJobs is what jobs know of channels. They move none.
var ChannelJobs = work.Noun{Name: ChannelNoun}

// AskTest asks for a test of a channel, enabled or not.
func AskTest(ctx context.Context, tx *intent.Tx, kinds *work.Registry, c Channel) (job uuid.UUID, err error) {
	return kinds.Ask(ctx, tx,
		work.New{Kind: ChannelTest.Name, Objects: []work.Object{{Role: ChannelRole, Noun: ChannelNoun, ID: c.ID, Name: c.Name}}},
		c.entry("test", nil, nil))
}
