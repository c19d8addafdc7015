package api

// Page is one page of a list. NextCursor is empty on the last one, and
// PreviousCursor on the first.
type Page[T any] struct {
	Items          []T    `json:"items" nullable:"false" doc:"the objects of this page, in order"`
	NextCursor     string `json:"next_cursor" doc:"give it as cursor to get the next page; empty on the last one"`
	PreviousCursor string `json:"previous_cursor" doc:"give it as cursor to get the page before; empty on the first one"`
}

// PageQuery asks for one page of a list.
type PageQuery struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"how many objects a page holds"`
	Cursor string `query:"cursor" maxLength:"512" doc:"next_cursor or previous_cursor of another page, in the same sort and with the same filters"`
	Sort   string `query:"sort" maxLength:"32" doc:"the order: a field, with - before it from the last to the first"`
}
