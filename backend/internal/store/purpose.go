package store

import "kloigos/backend/internal/domain"

// What a host is for.
const (
	PurposeUnits      = "units"      // it is cut into compute units
	PurposeKubernetes = "kubernetes" // all of it is a node of a cluster
)

// CheckPurpose tells whether a host of a workspace of this type may be for that.
func CheckPurpose(purpose, workspaceType string) error {
	fits := map[string]string{PurposeUnits: "bare_metal", PurposeKubernetes: "kubernetes"}
	if fits[purpose] != workspaceType {
		return domain.Conflictf("host_purpose", "hosts of a %s workspace are not for %s", workspaceType, purpose)
	}
	return nil
}
