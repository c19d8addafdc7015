package noun

import (
	"strconv"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var remedy = shape.Noun[api.Remedy, api.RemedyFilter]{
	Name: "remedy", Plural: "remedies", Help: "Jobs that are asked for by themselves where a condition is false",
	Columns: []show.Column[api.Remedy]{
		{Header: "NAME", Value: func(r api.Remedy) string { return r.Name }},
		{Header: "CONDITION", Value: func(r api.Remedy) string { return r.Noun + "/" + r.Condition }},
		{Header: "JOB", Value: func(r api.Remedy) string { return r.Job }},
		{Header: "PER DAY", Value: func(r api.Remedy) string { return strconv.FormatInt(r.PerDay, 10) }},
		{Header: "ENABLED", Value: func(r api.Remedy) string { return strconv.FormatBool(r.Enabled) }},
	},
	ID:         func(r api.Remedy) string { return r.ID },
	Label:      func(r api.Remedy) string { return r.Name },
	Version:    func(r api.Remedy) int64 { return r.Version },
	List:       shape.List("list-remedies", (*client.Client).AllRemedies),
	Get:        shape.Get("get-remedy", (*client.Client).GetRemedy),
	Events:     shape.InWorkspace,
	ByName:     true,
	Operations: func(r api.Remedy) []api.Operation { return r.Operations },
	Actions: []shape.Action{
		shape.Create("create-remedy", "name", (*client.Client).CreateRemedy),
		shape.Change("change-remedy", (*client.Client).ChangeRemedy),
		shape.Delete("delete-remedy", (*client.Client).DeleteRemedy),
	},
}

var remedyRun = shape.Noun[api.RemedyRun, api.RemedyRunFilter]{
	Name: "remedy-run", Plural: "runs", Help: "What remedies did, newest first",
	Columns: []show.Column[api.RemedyRun]{
		{Header: "AT", Value: func(r api.RemedyRun) string { return r.At.UTC().Format(time.RFC3339) }},
		{Header: "REMEDY", Value: func(r api.RemedyRun) string { return r.Remedy }},
		{Header: "OBJECT", Value: func(r api.RemedyRun) string { return r.Object }},
		{Header: "OUTCOME", Value: func(r api.RemedyRun) string { return r.Outcome }},
		{Header: "JOB", Value: func(r api.RemedyRun) string { return r.JobID }},
		{Header: "MESSAGE", Value: func(r api.RemedyRun) string { return r.Message }},
	},
	ID:   func(r api.RemedyRun) string { return r.ID },
	List: shape.List("list-remedy-runs", (*client.Client).AllRemedyRuns),
}
