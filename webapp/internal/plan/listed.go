package plan

import (
	"strings"

	"kloigos/backend/api"
)

// objectPages are where the nouns have pages that plans are about which list what a job would do.
var objectPages = map[string]string{"cluster": "/clusters/", "cluster_snapshot": "/cluster-snapshots/"}

// objectAt is the page of what a plan is about; "" where it has none.
func objectAt(p api.Plan) string {
	at := objectPages[p.ObjectKind]
	if at == "" || p.ObjectID == "" {
		return ""
	}
	return at + p.ObjectID
}

func words(kind string) string { return strings.ReplaceAll(kind, "_", " ") }

// arrow stands between what is and what would be.
func arrow(c change) string {
	if c.Before == "" || c.After == "" {
		return ""
	}
	return " → "
}
