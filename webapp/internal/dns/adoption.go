package dns

import (
	"slices"

	"kloigos/backend/api"
)

// adoptable tells whether a record could be managed here.
func adoptable(f api.DNSForeignRecord) bool {
	return slices.Contains(types(), f.Type) && f.Outcome == "foreign" && (f.Type != "NS" || f.Name != f.Zone)
}
