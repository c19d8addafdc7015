package noun

import (
	"strconv"
	"strings"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var channel = shape.Noun[api.Channel, api.ChannelFilter]{
	Name: "channel", Plural: "channels", Help: "Where notifications go: webhooks and mail",
	Columns: []show.Column[api.Channel]{
		{Header: "NAME", Value: func(c api.Channel) string { return c.Name }},
		{Header: "TYPE", Value: func(c api.Channel) string { return c.Type }},
		{Header: "ENABLED", Value: func(c api.Channel) string { return strconv.FormatBool(c.Enabled) }},
		{Header: "SUBSCRIBES", Value: func(c api.Channel) string { return strings.Join(c.Subscribes, ", ") }},
		{Header: "RECEIVER", Value: func(c api.Channel) string { return c.URL + strings.Join(c.Recipients, ", ") }},
	},
	ID:         func(c api.Channel) string { return c.ID },
	Label:      func(c api.Channel) string { return c.Name },
	Version:    func(c api.Channel) int64 { return c.Version },
	List:       shape.List("list-channels", (*client.Client).AllChannels),
	Get:        shape.Get("get-channel", (*client.Client).GetChannel),
	Events:     shape.InWorkspace,
	ByName:     true,
	Operations: func(c api.Channel) []api.Operation { return c.Operations },
	Actions: []shape.Action{
		shape.Create("create-channel", "name", (*client.Client).CreateChannel).FromFile("secret", "password"),
		shape.Change("change-channel", (*client.Client).ChangeChannel).FromFile("password"),
		shape.Delete("delete-channel", (*client.Client).DeleteChannel),
		shape.Start("test", "test-channel", (*client.Client).TestChannel),
		shape.DoWith("add-secret", "add-channel-secret", (*client.Client).AddChannelSecret).FromFile("secret"),
		shape.DoWith("remove-secret", "remove-channel-secret", (*client.Client).RemoveChannelSecret),
	},
}

var channelDelivery = shape.Noun[api.ChannelDelivery, api.ChannelDeliveryFilter]{
	Name: "channel-delivery", Plural: "deliveries", Help: "Attempts to deliver a message through a channel",
	Columns: []show.Column[api.ChannelDelivery]{
		{Header: "AT", Value: func(d api.ChannelDelivery) string { return show.Ago(d.At) }},
		{Header: "KIND", Value: func(d api.ChannelDelivery) string { return d.Kind }},
		{Header: "ATTEMPT", Value: func(d api.ChannelDelivery) string { return strconv.FormatInt(d.Attempt, 10) }},
		{Header: "OUTCOME", Value: func(d api.ChannelDelivery) string { return d.Outcome }},
		{Header: "MS", Value: func(d api.ChannelDelivery) string { return strconv.FormatInt(d.DurationMS, 10) }},
		{Header: "ERROR", Value: func(d api.ChannelDelivery) string { return d.Error }},
	},
	ID:    func(d api.ChannelDelivery) string { return d.ID },
	Label: func(d api.ChannelDelivery) string { return d.MessageID },
	List:  shape.List("list-channel-deliveries", (*client.Client).AllChannelDeliveries),
}
