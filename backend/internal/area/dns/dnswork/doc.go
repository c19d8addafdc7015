// Package dnswork does the work on zones: it opens their name servers, brings a zone in line with its record sets, asks
// whether a record set arrived, and has the steps of the area's jobs and its policies.
//
// It refuses to decide what a zone or a record set may be, and to write a row by itself: package dns does.
package dnswork
