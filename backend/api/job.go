package api

import "time"

// Job is a durable piece of work.
type Job struct {
	ID           string      `json:"id" format:"uuid"`
	Workspace    string      `json:"workspace"`
	Kind         string      `json:"kind"`
	KindMeans    string      `json:"kind_means" doc:"what a job of this kind does"`
	State        string      `json:"state"`
	StateMeans   string      `json:"state_means"`
	HoldsHost    bool        `json:"holds_host" doc:"while it is carried out it is the only such job of its host; one that only reads waits for none"`
	HostID       string      `json:"host_id,omitempty"`
	Host         string      `json:"host,omitempty" doc:"name of its host"`
	UnitID       string      `json:"unit_id,omitempty"`
	Unit         string      `json:"unit,omitempty" doc:"name of its unit"`
	AllocationID string      `json:"allocation_id,omitempty"`
	LoginUser    string      `json:"login_user,omitempty" doc:"of its allocation"`
	PlanID       string      `json:"plan_id,omitempty" doc:"the plan that it makes, or that it is bound to"`
	Objects      []JobObject `json:"objects,omitempty" doc:"what it is about, where that is not hosts, units and allocations"`
	HostCount    int         `json:"host_count,omitempty" doc:"of a job that has several hosts"`
	Hosts        []JobHost   `json:"hosts,omitempty" doc:"of a job that has several, by name; lists leave them out"`
	Steps        []JobStep   `json:"steps" nullable:"false"`
	Priority     int         `json:"priority"`
	Attempt      int         `json:"attempt" doc:"grows with each claim"`
	Failures     int         `json:"failures"`
	MaxAttempts  int         `json:"max_attempts"`
	RunAfter     time.Time   `json:"run_after" doc:"a queued job is not begun before"`
	DeadlineAt   time.Time   `json:"deadline_at" doc:"no attempt begins after"`
	Worker       string      `json:"worker,omitempty" doc:"name of the backend that runs it, or that ended it"`
	LeaseExpires *time.Time  `json:"lease_expires_at,omitempty" doc:"while a backend has it, which renews its lease; another takes the job over after it"`
	Playbook     string      `json:"playbook,omitempty"`
	Version      int         `json:"playbook_version,omitempty" doc:"bound when it was asked for"`
	RequestedBy  string      `json:"requested_by"`
	Error        *JobError   `json:"error,omitempty" doc:"of the last attempt that failed"`
	Outcome      string      `json:"outcome,omitempty" doc:"what came of it"`
	Operations   []Operation `json:"operations" nullable:"false"`
	CreatedAt    time.Time   `json:"created_at"`
	StartedAt    *time.Time  `json:"started_at,omitempty"`
	FinishedAt   *time.Time  `json:"finished_at,omitempty"`
	LogExpiredAt *time.Time  `json:"log_expired_at,omitempty" doc:"when its log was removed for its age"`
}

// JobObject is one thing that a job is about.
type JobObject struct {
	Role string `json:"role" doc:"what it is to the job"`
	Noun string `json:"noun" doc:"of the object: zone, record set and so on"`
	ID   string `json:"id" format:"uuid"`
	Name string `json:"name" doc:"when the job was asked for"`
}

// JobStep is one step of a job.
type JobStep struct {
	Position   int        `json:"position"`
	Name       string     `json:"name"`
	State      string     `json:"state" enum:"pending,running,succeeded,failed"`
	Attempt    int        `json:"attempt" doc:"the attempt that last ran it"`
	StartedAt  *time.Time `json:"started_at,omitempty"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
}

// JobHost is one host of a job that has several.
type JobHost struct {
	ID        string    `json:"id" format:"uuid"`
	Name      string    `json:"name"`
	State     string    `json:"state" enum:"pending,succeeded,failed" doc:"one that succeeded is not done again"`
	Code      string    `json:"code,omitempty" doc:"of what failed, as in the error of a job"`
	Message   string    `json:"message,omitempty" doc:"what came of it"`
	UpdatedAt time.Time `json:"updated_at"`
}

// JobError is why a job failed.
type JobError struct {
	Code     string `json:"code" doc:"stable, for programs"`
	Message  string `json:"message" doc:"what happened, the host's own words included"`
	Host     string `json:"host,omitempty"`
	Task     string `json:"task,omitempty" doc:"Ansible's task"`
	NextStep string `json:"next_step,omitempty" doc:"what a person can do now"`
}

// LogEntry is one thing that a job told.
type LogEntry struct {
	Sequence   int64     `json:"sequence" doc:"from 1, without gaps, over all attempts"`
	Attempt    int       `json:"attempt"`
	Step       string    `json:"step"`
	Time       time.Time `json:"time"`
	Kind       string    `json:"kind" doc:"play_started, task_started, ok, changed, skipped, failed, unreachable, ignored, output, finished, note"`
	Play       string    `json:"play,omitempty"`
	Role       string    `json:"role,omitempty"`
	Task       string    `json:"task,omitempty"`
	Action     string    `json:"action,omitempty" doc:"Ansible's module"`
	Item       string    `json:"item,omitempty" doc:"of a task's loop"`
	Host       string    `json:"host,omitempty"`
	Changed    bool      `json:"changed,omitempty"`
	Message    string    `json:"message,omitempty"`
	Output     string    `json:"output,omitempty" doc:"text of the host: show it as text, never as markup"`
	Diff       string    `json:"diff,omitempty"`
	DurationMS int64     `json:"duration_ms,omitempty"`
}

// JobLog is a part of a job's log.
type JobLog struct {
	Items    []LogEntry `json:"items" nullable:"false"`
	Last     int64      `json:"last_sequence" doc:"give it as after to go on; with a filter, how far was looked, whether anything was found or not"`
	Newest   int64      `json:"newest_sequence" doc:"of the newest entry there is by now"`
	Complete bool       `json:"complete" doc:"the job has ended and this is all"`
}

// LogFilter asks for a part of a log.
type LogFilter struct {
	After  int64  `query:"after" minimum:"0" maximum:"9007199254740991" doc:"sequence after which to begin"`
	Limit  int    `query:"limit" minimum:"1" maximum:"2000" default:"500" doc:"how many entries are looked for"`
	Kinds  string `query:"kinds" maxLength:"200" doc:"only entries of these kinds, separated by commas"`
	Search string `query:"search" maxLength:"200" doc:"only entries that hold this text in a name, message, output or diff, in whatever case"`
}

// LogOutline is a log in short: its tasks, and how each went on each host.
type LogOutline struct {
	Hosts   []string       `json:"hosts" nullable:"false" doc:"in the order in which they first told something"`
	Tasks   []LogTask      `json:"tasks" nullable:"false" doc:"in order; of very many the last"`
	LeftOut int            `json:"left_out" doc:"how many tasks are not listed, because there are too many"`
	Counts  map[string]int `json:"counts" nullable:"false" doc:"number of results by kind; the items of a loop are not counted"`
	Failed  int64          `json:"failed_sequence,omitempty" doc:"of the last entry that is failed or unreachable"`
	Last    int64          `json:"last_sequence" doc:"of the last entry that was looked at"`
}

// LogTask is one task of a log.
type LogTask struct {
	Sequence int64       `json:"sequence" doc:"of its first entry"`
	Attempt  int         `json:"attempt"`
	Step     string      `json:"step"`
	Play     string      `json:"play,omitempty"`
	Role     string      `json:"role,omitempty"`
	Task     string      `json:"task"`
	Results  []LogResult `json:"results" nullable:"false" doc:"one for each host that told of it"`
}

// LogResult is how a task went on one host.
type LogResult struct {
	Host       string `json:"host"`
	Kind       string `json:"kind" doc:"ok, changed, skipped, failed, unreachable, ignored; of a loop under way, of the last item"`
	Sequence   int64  `json:"sequence" doc:"of the entry that tells it"`
	Items      int    `json:"items,omitempty" doc:"of its loop, so far"`
	DurationMS int64  `json:"duration_ms,omitempty"`
}

// RetryJob tries a failed job again.
type RetryJob struct {
	Playbook string `json:"playbook,omitempty" enum:"bound,default" default:"bound" doc:"with the version it was bound to, or today's default"`
	FromStep string `json:"from_step,omitempty" maxLength:"64" doc:"name of the step to begin with: one that is done, which is done again with all that follow it, or the first that is not done, which is meant by default"`
}

// JobFilter narrows a list of jobs.
type JobFilter struct {
	PageQuery
	State      string `query:"state" maxLength:"32" doc:"a state, or active for all that have not ended, or ended for all that have"`
	Kind       string `query:"kind" maxLength:"64"`
	Host       string `query:"host" maxLength:"64" doc:"id or name"`
	Unit       string `query:"unit" maxLength:"64" doc:"id or name"`
	Allocation string `query:"allocation" maxLength:"64" doc:"id or login user"`
	Object     string `query:"object" maxLength:"64" doc:"id of anything else that jobs are about"`
	Playbook   string `query:"playbook" maxLength:"64" doc:"with version: jobs that are bound to this version of a playbook, of those that have not ended (state=active), of those that have (state=ended) or of one host, unit or allocation"`
	Version    int    `query:"version" minimum:"0" maximum:"2147483647" doc:"with playbook: number of its version"`
}
