// Package reconcile owns the scheduler of the steady state. A Policy compares
// what was asked for with what is, for one kind of object, and puts it right. Each
// object that a policy looks at is an item: a row that says when it is due. Any
// number of reconcilers claim the items that are due and hold them by leases; there
// is no leader. A run ends by writing conditions.
//
// The package knows no noun and changes no object itself: what a policy changes, it
// changes through intents.
//
// A run takes no hint: it reads everything afresh, so that running it twice does no
// harm. A wake never gets lost: it moves the due time earlier and counts a token up,
// in the transaction that wrote the object; a run whose token is old at its end is due
// again at once.
package reconcile
