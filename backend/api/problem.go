package api

// Problem is every error answer: RFC 9457, application/problem+json.
type Problem struct {
	Type      string         `json:"type" doc:"a URI of the problem's kind"`
	Title     string         `json:"title" doc:"the kind of problem, the same for all of its occurrences"`
	Status    int            `json:"status" doc:"the HTTP status"`
	Code      string         `json:"code" doc:"stable, for programs"`
	Detail    string         `json:"detail,omitempty" doc:"what is wrong this time"`
	Instance  string         `json:"instance,omitempty" doc:"id of the request; the backend's log has it too"`
	Errors    []FieldProblem `json:"errors,omitempty" doc:"one entry for each invalid field"`
	Placement *WhyNot        `json:"placement,omitempty" doc:"why no unit fits, for code no_capacity"`
	Moved     []string       `json:"moved,omitempty" doc:"which of playbook, variables and observed_state changed, for code plan_stale"`
	// RetryAfter is what the header Retry-After says, in seconds; the client fills it in. 0: nothing.
	RetryAfter int `json:"-"`
}

// FieldProblem says what is wrong with one field.
type FieldProblem struct {
	Field   string `json:"field" doc:"path of the field, such as ssh_keys[0]"`
	Message string `json:"message" doc:"what is wrong with it"`
}

func (p *Problem) Error() string {
	if p.Detail != "" {
		return p.Code + ": " + p.Detail
	}
	return p.Code + ": " + p.Title
}

// GetStatus makes a Problem an error that huma can answer with.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is the media type of a problem, whatever was negotiated.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// WhyNot explains a placement that failed.
type WhyNot struct {
	Units   int            `json:"units" doc:"number of units that the caller may use"`
	Ruled   []RuledOut     `json:"ruled_out" nullable:"false" doc:"filters in order, each with the number of units that it excluded"`
	Nearest string         `json:"nearest,omitempty" doc:"the nearest change to the request that would fit now"`
	Request map[string]any `json:"request,omitempty" doc:"what was asked for"`
}

// RuledOut is what one filter of a placement ruled out.
type RuledOut struct {
	Filter string `json:"filter" doc:"the filter's name"`
	Units  int    `json:"units" doc:"number of units that it excluded"`
	Why    string `json:"why" doc:"explanation in a sentence"`
}
