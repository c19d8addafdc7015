// Package dnswork does the work on zones: it decides which addresses a name server may have, and brings a zone in line with
// its record sets.
//
// It refuses to write to the database: it reports, and whoever called it records the report.
package dnswork
