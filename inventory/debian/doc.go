// Package debian owns the Debian packages: what they bring, and the scripts that run when they come and go.
package debian
