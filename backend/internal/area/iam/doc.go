// Package iam owns who may do what: organizations, projects, workspaces, accounts,
// roles, grants and keys. It decides nothing about hosts and units; their areas
// ask for permissions by name.
package iam
