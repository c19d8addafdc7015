// Package network owns networks: address ranges that hosts carry, and out of which allocations have their addresses.
//
// It refuses to touch a host. Addresses themselves are still in packages domain, store and intent.
package network
