package testkit

import "testing"

// RandomKey and DropTemplate let the tests make a template of their own and take it away again.
var RandomKey = newName

func DropTemplate(t testing.TB, key string) {
	t.Helper()
	s := mustServer(t)
	s.mustExec(t, s.dropStatement(templatePrefix+key))
}
