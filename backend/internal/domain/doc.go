// Package domain owns the nouns of Kloigos, their validation, their lifecycles
// and what a job means for several of them at once. It imports nothing else of
// ours, talks to no database, host or network, and holds no state.
package domain
