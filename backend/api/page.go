package api

// Page is one page of a list. NextCursor is empty on the last one, and
// PreviousCursor on the first.
type Page[T any] struct {
	Items          []T    `json:"items" nullable:"false" doc:"the objects of this page, in order"`
	NextCursor     string `json:"next_cursor" doc:"pass it as cursor to get the next page; empty on the last page"`
	PreviousCursor string `json:"previous_cursor" doc:"pass it as cursor to get the previous page; empty on the first page"`
}

// PageQuery asks for one page of a list.
type PageQuery struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"maximum number of objects on a page"`
	Cursor string `query:"cursor" maxLength:"512" doc:"next_cursor or previous_cursor of another page with the same sort and filters"`
	Sort   string `query:"sort" maxLength:"32" doc:"field to sort by; with - before it in descending order"`
}
