package domain

import (
	"crypto/rsa"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// UnitNetwork is where the address of an allocation's unit lies. It is chosen when the allocation is made.
type UnitNetwork string

// Where the addresses of units lie.
const (
	NetworkOfHost UnitNetwork = "host" // on the host, held by rules for the tenant's UID
	NetworkOfUnit UnitNetwork = "unit" // in a network namespace of the unit
	// NetworkAuto is what an installation can ask for and no allocation has: a network of the unit where its host can give one.
	NetworkAuto UnitNetwork = "auto"
)

// AllocationState is where an allocation is in its life.
type AllocationState string

// The states of an allocation.
const (
	AllocationAllocating         AllocationState = "allocating"
	AllocationAllocated          AllocationState = "allocated"
	AllocationAllocationFailed   AllocationState = "allocation_failed"
	AllocationDeallocating       AllocationState = "deallocating"
	AllocationDeallocationFailed AllocationState = "deallocation_failed"
	AllocationDeallocated        AllocationState = "deallocated"
	AllocationLost               AllocationState = "lost"
)

// AllocationLifecycle is the life of an allocation.
var AllocationLifecycle = Lifecycle[AllocationState]{
	Noun: "allocation", Initial: AllocationAllocating,
	States: []StateInfo[AllocationState]{
		{State: AllocationAllocating, Means: "Kloigos is setting up its unit", Deadline: hourForAUnit},
		{State: AllocationAllocated, Means: "its user can log in"},
		{State: AllocationAllocationFailed, Means: "setup failed; retry the job, or give up and clean", Failed: true},
		{State: AllocationDeallocating, Means: "Kloigos is wiping its unit", Deadline: hourForAUnit},
		{State: AllocationDeallocationFailed, Means: "the wipe failed; deallocate again", Failed: true},
		{State: AllocationDeallocated, Means: "ended; nothing of it is left on its unit", Final: true},
		{State: AllocationLost, Means: "its host was declared lost", Final: true},
	},
	Transitions: []Transition[AllocationState]{
		{AllocationAllocationFailed, AllocateRequested, AllocationAllocating},
		{AllocationAllocating, AllocateSucceeded, AllocationAllocated},
		{AllocationAllocating, AllocateFailed, AllocationAllocationFailed},
		{AllocationAllocating, AllocateWithdrawn, AllocationDeallocated},

		{AllocationAllocated, DeallocateRequested, AllocationDeallocating},
		{AllocationAllocationFailed, DeallocateRequested, AllocationDeallocating},
		{AllocationDeallocationFailed, DeallocateRequested, AllocationDeallocating},
		{AllocationDeallocating, DeallocateSucceeded, AllocationDeallocated},
		{AllocationDeallocating, DeallocateFailed, AllocationDeallocationFailed},
		{AllocationDeallocating, DeallocateWithdrawn, AllocationAllocated},

		{AllocationAllocating, DeclaredLost, AllocationLost},
		{AllocationAllocated, DeclaredLost, AllocationLost},
		{AllocationAllocationFailed, DeclaredLost, AllocationLost},
		{AllocationDeallocating, DeclaredLost, AllocationLost},
		{AllocationDeallocationFailed, DeclaredLost, AllocationLost},
	},
}

var loginUser = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,31}$`)

var reservedUsers = []string{
	"root", "daemon", "bin", "sys", "sync", "games", "man", "lp", "mail", "news", "uucp", "proxy", "www-data",
	"backup", "list", "irc", "gnats", "nobody", "sshd", "messagebus", "kloigos", "admin", "adm", "sudo", "wheel", "tty",
	"disk", "kmem", "dialout", "fax", "voice", "cdrom", "floppy", "tape", "audio", "dip", "operator", "src", "shadow",
	"utmp", "video", "sasl", "plugdev", "staff", "users", "nogroup", "input", "sgx", "kvm", "render", "crontab",
	"netdev", "halt", "shutdown", "ftp", "nfsnobody", "polkitd", "docker", "lxd",
}

// CheckLoginUser tells whether a tenant can log in under this name.
func CheckLoginUser(s string) error {
	if !loginUser.MatchString(s) {
		return fmt.Errorf("use 1 to 32 lower-case letters, digits, _ and -; begin with a letter or _")
	}
	if slices.Contains(reservedUsers, s) || strings.HasPrefix(s, "_") || strings.HasPrefix(s, "systemd-") || strings.HasPrefix(s, "kloigos-") {
		return fmt.Errorf("%q is a system name; choose another", s)
	}
	return nil
}

// maxRSABits is the longest RSA key that OpenSSH takes (SSHBUF_MAX_BIGNUM).
const maxRSABits = 16384

// MaxSSHKeys is how many keys one allocation may carry.
const MaxSSHKeys = 64

// SSHKey is a parsed public key as it is stored: type, base64 and comment.
type SSHKey struct {
	Line        string // one line of an authorized_keys file, without options
	Fingerprint string // SHA256:...
}

// ParseSSHKey checks one public key. Options such as command= are refused, as
// are certificates and DSA, and RSA under 2048 bits.
func ParseSSHKey(s string) (SSHKey, error) {
	if len(s) > 16*1024 {
		return SSHKey{}, fmt.Errorf("is longer than 16 KiB")
	}
	s = strings.TrimSpace(s) // a file of a key ends with a newline
	if strings.ContainsAny(s, "\r\n\x00") {
		return SSHKey{}, fmt.Errorf("must be one line")
	}
	key, comment, options, _, err := ssh.ParseAuthorizedKey([]byte(s))
	if err != nil {
		return SSHKey{}, fmt.Errorf("is not an SSH public key")
	}
	if len(options) > 0 {
		return SSHKey{}, fmt.Errorf("remove the options before the key type")
	}
	if err := checkKeyType(key); err != nil {
		return SSHKey{}, err
	}
	for _, r := range comment {
		if r < 0x20 || r == 0x7f || r > 0x7e {
			return SSHKey{}, fmt.Errorf("its comment may hold printable ASCII characters only")
		}
	}
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
	if comment != "" {
		line += " " + comment
	}
	return SSHKey{Line: line, Fingerprint: ssh.FingerprintSHA256(key)}, nil
}

func checkKeyType(key ssh.PublicKey) error {
	switch key.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521,
		ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256:
		return nil
	case ssh.KeyAlgoRSA:
		crypto, ok := key.(ssh.CryptoPublicKey)
		if !ok {
			return fmt.Errorf("is not an RSA key")
		}
		public, ok := crypto.CryptoPublicKey().(*rsa.PublicKey)
		if !ok {
			return fmt.Errorf("is not an RSA key")
		}
		if bits := public.N.BitLen(); bits < 2048 || bits > maxRSABits {
			return fmt.Errorf("is an RSA key of %d bits; 2048 to %d are accepted", bits, maxRSABits)
		}
		return nil
	default:
		return fmt.Errorf("is of type %q, which is not accepted", key.Type())
	}
}
