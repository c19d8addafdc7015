// Package watchwork delivers messages: it speaks to webhooks and mail servers, and has the steps of the area's jobs and its
// policies.
//
// It refuses to decide what a channel may be, to follow a redirect, and to keep anything of an answer but its status.
package watchwork
