package api

// The protocol between agents and backends. It is not part of the API for accounts: an agent proves itself with the key that
// it made, and gets a credential that is good for its own heartbeats.

// AgentPrefix is the path that all requests of agents begin with.
const AgentPrefix = "/api/agent/v1"

// AgentProof begins what an agent signs, so that a signature is good for nothing else.
const AgentProof = "kloigos-agent renew 1"

// Limits of what an agent sends.
const (
	AgentMaxBody  = 4 << 10
	AgentMaxDisks = 16
	AgentMaxUnits = 20
	AgentMaxName  = 100 // characters of a path or a unit
)

// AgentEnrol shows a token once, with the public key of the agent.
type AgentEnrol struct {
	Token     string `json:"token"`
	PublicKey []byte `json:"public_key"` // Ed25519
	Signature []byte `json:"signature"`  // of AgentProofText with the token as its challenge
	MachineID string `json:"machine_id"`
	BootID    string `json:"boot_id"`
	Version   string `json:"version"`
}

// AgentAsk asks for a challenge.
type AgentAsk struct {
	Agent string `json:"agent"`
}

// AgentChallenge is to be signed within a minute.
type AgentChallenge struct {
	Challenge string `json:"challenge"`
}

// AgentRenew proves that the agent has its key.
type AgentRenew struct {
	Agent     string `json:"agent"`
	Challenge string `json:"challenge"`
	Signature []byte `json:"signature"` // of AgentProofText
	MachineID string `json:"machine_id"`
	BootID    string `json:"boot_id"`
	Version   string `json:"version"`
}

// AgentProofText is what the key of an agent signs.
func AgentProofText(agent, challenge, machineID, bootID string) []byte {
	return []byte(AgentProof + "\n" + agent + "\n" + challenge + "\n" + machineID + "\n" + bootID)
}

// AgentCredential is good for heartbeats until it expires or the agent gets another one.
type AgentCredential struct {
	Agent      string `json:"agent"`
	Credential string `json:"credential"`
	ExpiresIn  int64  `json:"expires_in"` // seconds
}

// AgentHeartbeat is sent every 10 seconds.
type AgentHeartbeat struct {
	Agent   string       `json:"agent"`
	Seq     int64        `json:"seq"`  // grows with each heartbeat under one credential
	Time    int64        `json:"time"` // clock of the host, Unix milliseconds
	BootID  string       `json:"boot_id"`
	Version string       `json:"version"`
	Report  *AgentReport `json:"report,omitempty"` // absent if the reader did not answer
	State   string       `json:"state,omitempty"`  // hash of the part AgentHostPart; absent if the reader cannot tell
	Update  *AgentUpdate `json:"update,omitempty"` // absent if nothing keeps the agent from the version that it was told
}

// AgentUpdate says why an agent does not run the version that it was told.
type AgentUpdate struct {
	Version string `json:"version"`
	State   string `json:"state" enum:"failed,pinned" doc:"failed: it is not tried again; pinned: the host stays on a version"`
	Reason  string `json:"reason"`
}

// AgentBuildAsk asks for a part of the build that the agent was told to run. It is sent with the credential.
type AgentBuildAsk struct {
	Agent   string `json:"agent"`
	Version string `json:"version"`
	Arch    string `json:"arch"` // as Go names it
	Part    int    `json:"part"` // from 0
}

// AgentBuildPart is a part of a build, compressed with gzip as a whole.
type AgentBuildPart struct {
	Manifest  []byte `json:"manifest,omitempty"` // with part 0
	Signature []byte `json:"signature,omitempty"`
	Data      []byte `json:"data"`
	Parts     int    `json:"parts"` // how many there are
}

// AgentPartSize is how many bytes of a compressed build go into one part: it arrives in 5 s at 30 kB/s.
const AgentPartSize = 128 << 10

// AgentReport is how a host is. All figures are the host's own word.
type AgentReport struct {
	UptimeSeconds   int64         `json:"uptime_seconds" doc:"since the host started"`
	CPUs            int64         `json:"cpu_count" doc:"CPUs that are online"`
	Load            [3]float64    `json:"load" doc:"over 1, 5 and 15 minutes"`
	Pressure        AgentPressure `json:"pressure" doc:"how long tasks waited"`
	MemoryTotal     int64         `json:"memory_total" doc:"bytes"`
	MemoryAvailable int64         `json:"memory_available" doc:"bytes"`
	Disks           []AgentDisk   `json:"disks" nullable:"false" doc:"file systems of the host"`
	FailedUnits     []string      `json:"failed_units" nullable:"false" doc:"units of Kloigos that systemd calls failed"`
	RebootRequired  bool          `json:"reboot_required" doc:"an update waits for a reboot"`
}

// AgentPressure is the share of the last minute in which tasks waited, in percent.
type AgentPressure struct {
	CPUSome    float64 `json:"cpu_some" doc:"percent of a minute in which some tasks waited for a CPU"`
	MemorySome float64 `json:"memory_some" doc:"percent of a minute in which some tasks waited for memory"`
	MemoryFull float64 `json:"memory_full" doc:"percent of a minute in which all tasks waited for memory"`
	IOSome     float64 `json:"io_some" doc:"percent of a minute in which some tasks waited for disks"`
	IOFull     float64 `json:"io_full" doc:"percent of a minute in which all tasks waited for disks"`
}

// AgentDisk is one file system.
type AgentDisk struct {
	Path        string `json:"path"`
	Total       int64  `json:"total" doc:"bytes"`
	Free        int64  `json:"free" doc:"bytes that users other than root can still take"`
	InodesTotal int64  `json:"inodes_total" doc:"0 where the file system has no limit"`
	InodesFree  int64  `json:"inodes_free" doc:"how many files can still be made"`
}

// Limits of what an agent says of the promises on its host.
const (
	AgentMaxState  = 8 << 10 // bytes of a part
	AgentMaxFacts  = 64      // of a part
	AgentMaxKey    = 40      // characters
	AgentMaxValue  = 400     // characters
	AgentMaxParts  = 96      // units of a host
	AgentHostPart  = "host"
	AgentHashBytes = 8 // of a SHA-256; 16 characters in hexadecimal
)

// AgentState is a part of what an agent sees of the promises on its host: the host itself, or one unit. It is sent when it
// changes, the host last: its hash stands in heartbeats, and it names the hashes of the units.
type AgentState struct {
	Agent string `json:"agent"`
	AgentPart
}

// AgentPart is what is on the host now, by names such as memory.max. What was promised is not in it.
type AgentPart struct {
	Part  string            `json:"part"` // AgentHostPart, or the id of a unit
	Hash  string            `json:"hash"`
	Facts map[string]string `json:"facts"`
	Units map[string]string `json:"units,omitempty"` // of the host: id to hash
}

// AgentReading is what the reader of an agent answers.
type AgentReading struct {
	AgentReport
	Parts []AgentPart `json:"parts,omitempty"` // the units, then the host; absent if they could not be read
}

// AgentProgram asks for a part of the program of an agent. Whoever names its checksum may have it: the host that installs it
// was told the checksum by its play.
type AgentProgram struct {
	SHA256 string `json:"sha256"`
	Offset int64  `json:"offset"`
}

// AgentProgramPart is the most bytes that one answer has.
const AgentProgramPart = 1 << 20

// AgentAccepted answers a heartbeat. It says nothing else.
type AgentAccepted struct {
	Accepted       bool   `json:"accepted"`
	DesiredVersion string `json:"desired_version,omitempty"` // that belongs to the backends
	RunVersion     string `json:"run_version,omitempty"`     // that the agent is to run now; absent: the one that runs
}
