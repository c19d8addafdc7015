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
	HoldsHost    bool        `json:"holds_host" doc:"whether it holds its host while it runs: one such job at a time; jobs that only read hold nothing"`
	HostID       string      `json:"host_id,omitempty"`
	Host         string      `json:"host,omitempty" doc:"name of its host"`
	SharedHost   bool        `json:"shared_host,omitempty" doc:"its host is of another workspace, which granted it"`
	UnitID       string      `json:"unit_id,omitempty"`
	Unit         string      `json:"unit,omitempty" doc:"name of its unit"`
	AllocationID string      `json:"allocation_id,omitempty"`
	LoginUser    string      `json:"login_user,omitempty" doc:"login user of its allocation"`
	PlanID       string      `json:"plan_id,omitempty" doc:"the plan that it makes, or that it is bound to"`
	Objects      []JobObject `json:"objects,omitempty" doc:"objects of the job other than hosts, units and allocations"`
	HostCount    int         `json:"host_count,omitempty" doc:"number of hosts, for a job of several hosts"`
	Hosts        []JobHost   `json:"hosts,omitempty" doc:"hosts of a job of several hosts, by name; absent in lists"`
	Steps        []JobStep   `json:"steps" nullable:"false"`
	WaitsFor     string      `json:"waits_for,omitempty" doc:"which quota a queued job waits for, in a sentence; absent in lists"`
	Priority     int         `json:"priority"`
	Attempt      int         `json:"attempt" doc:"number of times that a worker claimed it"`
	Failures     int         `json:"failures"`
	MaxAttempts  int         `json:"max_attempts"`
	RunAfter     time.Time   `json:"run_after" doc:"a queued job does not start before this time"`
	DeadlineAt   time.Time   `json:"deadline_at" doc:"no attempt starts after this time"`
	Worker       string      `json:"worker,omitempty" doc:"name of the backend that runs it or ended it"`
	LeaseExpires *time.Time  `json:"lease_expires_at,omitempty" doc:"end of the lease while a backend runs the job; afterwards another backend takes the job over"`
	Playbook     string      `json:"playbook,omitempty"`
	Version      int         `json:"playbook_version,omitempty" doc:"version of the playbook; set when the job is created"`
	RequestedBy  string      `json:"requested_by"`
	Error        *JobError   `json:"error,omitempty" doc:"error of the last failed attempt"`
	Outcome      string      `json:"outcome,omitempty" doc:"the result in a sentence"`
	Operations   []Operation `json:"operations" nullable:"false"`
	CreatedAt    time.Time   `json:"created_at"`
	StartedAt    *time.Time  `json:"started_at,omitempty"`
	FinishedAt   *time.Time  `json:"finished_at,omitempty"`
	LogExpiredAt *time.Time  `json:"log_expired_at,omitempty" doc:"when its log was removed because of its age"`
}

// JobObject is one thing that a job is about.
type JobObject struct {
	Role string `json:"role" doc:"role of the object in the job"`
	Noun string `json:"noun" doc:"kind of the object, such as zone or record_set"`
	ID   string `json:"id" format:"uuid"`
	Name string `json:"name" doc:"when the job was asked for"`
}

// JobStep is one step of a job.
type JobStep struct {
	Position   int        `json:"position"`
	Name       string     `json:"name"`
	Means      string     `json:"means,omitempty" doc:"what the step does, in a sentence"`
	State      string     `json:"state" enum:"pending,running,succeeded,failed"`
	Attempt    int        `json:"attempt" doc:"the attempt that last ran it"`
	StartedAt  *time.Time `json:"started_at,omitempty"`
	FinishedAt *time.Time `json:"finished_at,omitempty"`
}

// JobHost is one host of a job that has several.
type JobHost struct {
	ID        string    `json:"id" format:"uuid"`
	Name      string    `json:"name"`
	State     string    `json:"state" enum:"pending,succeeded,failed" doc:"a host that succeeded is not repeated"`
	Code      string    `json:"code,omitempty" doc:"code of the failure, as in the error of a job"`
	Message   string    `json:"message,omitempty" doc:"the result in a sentence"`
	UpdatedAt time.Time `json:"updated_at"`
}

// JobError is why a job failed.
type JobError struct {
	Code     string `json:"code" doc:"stable, for programs"`
	Message  string `json:"message" doc:"what happened, with the host's own message"`
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
	Item       string    `json:"item,omitempty" doc:"item of the task's loop"`
	Host       string    `json:"host,omitempty"`
	Changed    bool      `json:"changed,omitempty"`
	Message    string    `json:"message,omitempty"`
	Output     string    `json:"output,omitempty" doc:"text from the host; show it as text, never as markup"`
	Diff       string    `json:"diff,omitempty"`
	DurationMS int64     `json:"duration_ms,omitempty"`
}

// JobLog is a part of a job's log.
type JobLog struct {
	Items    []LogEntry `json:"items" nullable:"false"`
	Last     int64      `json:"last_sequence" doc:"pass it as after to continue; with a filter, the last entry that was searched"`
	Newest   int64      `json:"newest_sequence" doc:"sequence of the newest entry"`
	Complete bool       `json:"complete" doc:"whether the job has ended and no entry follows"`
}

// LogFilter asks for a part of a log.
type LogFilter struct {
	After  int64  `query:"after" minimum:"0" maximum:"9007199254740991" doc:"return entries after this sequence"`
	Limit  int    `query:"limit" minimum:"1" maximum:"2000" default:"500" doc:"maximum number of entries"`
	Kinds  string `query:"kinds" maxLength:"200" doc:"only entries of these kinds, separated by commas"`
	Search string `query:"search" maxLength:"200" doc:"only entries with this text in a name, message, output or diff; ignores case"`
}

// LogOutline is a log in short: its tasks, and how each went on each host.
type LogOutline struct {
	Hosts   []string       `json:"hosts" nullable:"false" doc:"hosts in the order of their first entries"`
	Tasks   []LogTask      `json:"tasks" nullable:"false" doc:"tasks in order; the last ones if there are too many"`
	LeftOut int            `json:"left_out" doc:"number of tasks that are not listed"`
	Counts  map[string]int `json:"counts" nullable:"false" doc:"number of results by kind; the items of a loop are not counted"`
	Failed  int64          `json:"failed_sequence,omitempty" doc:"sequence of the last entry that is failed or unreachable"`
	Last    int64          `json:"last_sequence" doc:"sequence of the last entry that was read"`
}

// LogTask is one task of a log.
type LogTask struct {
	Sequence int64       `json:"sequence" doc:"sequence of its first entry"`
	Attempt  int         `json:"attempt"`
	Step     string      `json:"step"`
	Play     string      `json:"play,omitempty"`
	Role     string      `json:"role,omitempty"`
	Task     string      `json:"task"`
	Results  []LogResult `json:"results" nullable:"false" doc:"one for each host"`
}

// LogResult is how a task went on one host.
type LogResult struct {
	Host       string `json:"host"`
	Kind       string `json:"kind" doc:"ok, changed, skipped, failed, unreachable, ignored; of a loop under way, of the last item"`
	Sequence   int64  `json:"sequence" doc:"sequence of its entry"`
	Items      int    `json:"items,omitempty" doc:"number of items of its loop so far"`
	DurationMS int64  `json:"duration_ms,omitempty"`
}

// RetryJob tries a failed job again.
type RetryJob struct {
	Playbook string `json:"playbook,omitempty" enum:"bound,default" default:"bound" doc:"use the version of the job, or the default version of today"`
	FromStep string `json:"from_step,omitempty" maxLength:"64" doc:"step to start with: default is the first step that is not done; a step that is done is repeated, with all later steps"`
}

// JobFilter narrows a list of jobs.
type JobFilter struct {
	PageQuery
	State      string `query:"state" maxLength:"32" doc:"a state, active (not ended) or ended"`
	Kind       string `query:"kind" maxLength:"64"`
	Host       string `query:"host" maxLength:"64" doc:"id or name"`
	Unit       string `query:"unit" maxLength:"64" doc:"id or name"`
	Allocation string `query:"allocation" maxLength:"64" doc:"id or login user"`
	Object     string `query:"object" maxLength:"64" doc:"id of anything else that jobs are about"`
	Playbook   string `query:"playbook" maxLength:"64" doc:"name of a playbook, with version; needs state=active, state=ended, or a host, unit or allocation"`
	Version    int    `query:"version" minimum:"0" maximum:"2147483647" doc:"number of the version, with playbook"`
}
