// Package rollout owns staged changes: targets in waves, a proof for each target, a gap between waves, a halt when failures
// pass a limit, pause, resume, and the way back. Its state is in the database. Any reconciler advances it: each step is one
// transaction that holds only if nobody else made one since it was read.
//
// The package knows no noun. A Driver says what a change is, and how a target proves it.
package rollout
