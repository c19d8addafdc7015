package bundle

import "regexp"

// sharedFile is what the modules in library/ share. Ansible packs it into each module that imports it.
const sharedFile = "module_utils/kloigos.py"

// sharedImport is how a module asks for it.
var sharedImport = regexp.MustCompile(`(?m)^from ansible\.module_utils\.kloigos import `)

// sharedDigests are the SHA-256 of [sharedFile] in all releases. The gate takes no other, because Ansible looks for this code on
// the controller. A release that changes the file adds a line and keeps the others: stored versions hold them.
var sharedDigests = map[string]bool{
	"9b182ed42ac6bbde6bbe2c1e25241a60f8a23570a7a5c4c5478cc7f6b6bfce3c": true,
}
