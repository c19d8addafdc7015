package httpapi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"kloigos/backend/api"
)

// ownOperations are the types whose answers look at permissions themselves, since their objects are in no workspace, or in
// several scopes.
var ownOperations = map[string]bool{
	"Account": true, "ApprovalRule": true, "EventStream": true, "IdentityProvider": true, "KubeVersion": true, "ManagementCluster": true, "PlaybookDelivery": true,
	"Price": true, "ReleaseDelivery": true, "SSHKey": true, "Scope": true,
}

// TestAnswersOfferWhatIsPermitted: each type of an answer that names operations says which routes carry them out.
func TestAnswersOfferWhatIsPermitted(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for kind, routes := range operationRoutes {
		known[kind.Name()] = true
		for name, id := range routes {
			if _, ok := api.RouteOf(id); !ok {
				t.Errorf("%s of %s has no route %s", name, kind.Name(), id)
			}
		}
		if field, ok := kind.FieldByName("Operations"); !ok || field.Type != reflect.TypeFor[[]api.Operation]() {
			t.Errorf("%s names no operations", kind.Name())
		}
	}
	files, err := filepath.Glob("testdata/openapi/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d parts of the document, %v", len(files), err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		for _, name := range withOperations(t, file) {
			seen[name] = true
			if !known[name] && !ownOperations[name] {
				t.Errorf("answers with %s offer operations, and nothing looks whether they are permitted", name)
			}
		}
	}
	if len(seen) < 25 {
		t.Errorf("only %d types with operations were found: the test does not know the document any more", len(seen))
	}
}

// withOperations are the schemas of a part of the document that have the property operations.
func withOperations(t *testing.T, file string) (names []string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	var look func(name string, v any)
	look = func(name string, v any) {
		object, ok := v.(map[string]any)
		if !ok {
			return
		}
		if properties, ok := object["properties"].(map[string]any); ok && properties["operations"] != nil {
			names = append(names, name)
		}
		for key, value := range object {
			look(key, value)
		}
	}
	look("", document)
	return names
}
