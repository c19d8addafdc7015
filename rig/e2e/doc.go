// Package e2e holds the end-to-end test: a whole installation, a Debian VM, Ansible for real. It is built with the tag
// e2e, because it takes minutes and boots a machine; see ./task test:e2e.
package e2e
