package domain_test

import (
	"crypto/dsa" //nolint:staticcheck // to show that it is refused
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"
	"pgregory.net/rapid"

	"kloigos/backend/internal/domain"
)

func check(t *testing.T, what string, f func(string) error, good, bad []string) {
	t.Helper()
	for _, s := range good {
		if err := f(s); err != nil {
			t.Errorf("%s %.60q: %v", what, s, err)
		}
	}
	for _, s := range bad {
		if f(s) == nil {
			t.Errorf("%s %.60q is accepted", what, s)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	check(t, "login user", domain.CheckLoginUser,
		[]string{"ada", "a", "user-0a1b2c3d", "x_y", strings.Repeat("a", 32)},
		[]string{
			"", "root", "sshd", "systemd-network", "_apt", "nobody", "kloigos", "kloigos-x", "admin", "Ada", "1a", "-a", "a b", "a\n", "a.b",
			"{{x}}", "../x", "ä", strings.Repeat("a", 33), "www-data", "sudo",
		})
	check(t, "host name", domain.CheckHostName,
		[]string{"h1", "a", "a-b", strings.Repeat("a", 48)},
		[]string{"", "-a", "a-", "A", "a.b", "a_b", strings.Repeat("a", 49), "a\n", "h1;x", "{{x}}"})
	check(t, "place", domain.CheckPlace, []string{"eu-1", "a.b_c", "default"}, []string{"", "-a", "A", "a/b", "a b", strings.Repeat("a", 64)})
	check(t, "admin user", domain.CheckAdminUser, []string{"root", "admin", "_x"}, []string{"", "-oProxyCommand=x", "a b", "A", "a\n"})
	check(t, "volume group", domain.CheckVolumeGroup, []string{"kloigos-vg", "vg0", "a+b.c"}, []string{"", ".", "..", "-a", "a/b", "a b", "{{x}}", strings.Repeat("a", 128)})
}

// A host is known by a key that nobody can forge.
func TestHostKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line string
		fine       bool
	}{
		{"Ed25519", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ", true},
		{"RSA of 2048 bits", rsaLine(2048), true},
		{"RSA of 2047 bits", rsaLine(2047), false},
		{"RSA of 1024 bits", rsaLine(1024), false},
		{"RSA of 17,000 bits", rsaLine(17_000), false},
		{"a key of a token", "sk-ssh-ed25519@openssh.com " + blob("sk-ssh-ed25519@openssh.com", strings.Repeat("k", 32), "ssh:"), false},
	} {
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(c.line))
		if err == nil {
			err = domain.CheckHostKey(key)
		}
		if (err == nil) != c.fine {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// rsaLine is a key whose modulus is of so many bits, all of them ones.
func rsaLine(bits int) string {
	n := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(bits)), big.NewInt(1))
	return "ssh-rsa " + blob("ssh-rsa", "\x01\x00\x01", string(append([]byte{0}, n.Bytes()...)))
}

// blob is SSH's wire form: each part with its length before it (RFC 4251, 5).
func blob(parts ...string) string {
	var raw []byte
	for _, p := range parts {
		raw = append(binary.BigEndian.AppendUint32(raw, uint32(len(p))), p...)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func TestLabels(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range 65 {
		many[fmt.Sprintf("k%d", i)] = "v"
	}
	for _, c := range []struct {
		labels map[string]string
		ok     bool
	}{
		{nil, true},
		{map[string]string{"a": "", "team/name": "Blue.1_x-Y"}, true},
		{map[string]string{"": "x"}, false},
		{map[string]string{"A": "x"}, false},
		{map[string]string{"a": "x y"}, false},
		{map[string]string{"a": "{{x}}"}, false},
		{map[string]string{"a": "x\n"}, false},
		{map[string]string{"a": strings.Repeat("x", 64)}, false},
		{many, false},
	} {
		if err := domain.CheckLabels(c.labels); (err == nil) != c.ok {
			t.Errorf("%v: %v", c.labels, err)
		}
	}
}

func authorized(t *testing.T, public any) string {
	t.Helper()
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// rsaOf makes a public key whose modulus has exactly so many bits.
func rsaOf(bits int) *rsa.PublicKey {
	n := new(big.Int).Lsh(big.NewInt(1), uint(bits-1))
	return &rsa.PublicKey{N: n.Add(n, big.NewInt(1)), E: 65537}
}

func TestSSHKeyTypes(t *testing.T) {
	t.Parallel()
	ed, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	line := authorized(t, ed)
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		k, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := domain.ParseSSHKey(authorized(t, &k.PublicKey)); err != nil {
			t.Errorf("ecdsa %s: %v", curve.Params().Name, err)
		}
	}
	key, err := domain.ParseSSHKey("  " + line + " ada@work  \r\n")
	if err != nil || key.Line != line+" ada@work" || !strings.HasPrefix(key.Fingerprint, "SHA256:") {
		t.Errorf("got %+v, %v", key, err)
	}
	for bits, ok := range map[int]bool{1024: false, 2040: false, 2041: false, 2047: false, 2048: true, 2049: true, 4096: true, 16384: true, 16385: false} {
		if _, err := domain.ParseSSHKey(authorized(t, rsaOf(bits))); (err == nil) != ok {
			t.Errorf("RSA of %d bits: %v", bits, err)
		}
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert := &ssh.Certificate{Key: signer.PublicKey(), CertType: ssh.UserCert, ValidBefore: ssh.CertTimeInfinity}
	if err := cert.SignCert(rand.Reader, signer); err != nil {
		t.Fatal(err)
	}
	bad := map[string]string{
		"certificate": string(ssh.MarshalAuthorizedKey(cert)), "command": `command="id" ` + line, "options": "no-pty " + line, "two": line + "\n" + line,
		"nul": line + "\x00", "template is fine as text, not as line break": line + " a\rb", "tab": line + " a\tb", "umlaut": line + " ä", "escape": line + " \x1b[31m",
		"no key": "ssh-ed25519", "empty": "", "base64": "ssh-ed25519 AAAA", "comment": "# " + line, "long": line + " " + strings.Repeat("x", 17<<10),
		"dsa": authorized(t, &dsa.PublicKey{Parameters: dsa.Parameters{P: rsaOf(1024).N, Q: rsaOf(160).N, G: big.NewInt(2)}, Y: big.NewInt(3)}),
	}
	for what, s := range bad {
		if got, err := domain.ParseSSHKey(s); err == nil {
			t.Errorf("%s is accepted: %+v", what, got)
		}
	}
}

// TestStoredKeysAreOnePlainLine whatever was sent.
func TestStoredKeysAreOnePlainLine(t *testing.T) {
	t.Parallel()
	ed, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	line := authorized(t, ed)
	rapid.Check(t, func(t *rapid.T) {
		key, err := domain.ParseSSHKey(rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z="]{0,8} ?`)).Draw(t, "before") + line + rapid.String().Draw(t, "behind"))
		if err != nil {
			return
		}
		again, err := domain.ParseSSHKey(key.Line)
		if err != nil || again != key || !strings.HasPrefix(key.Line, line) || strings.ContainsAny(key.Line, "\r\n\x00") {
			t.Fatalf("%+v, %+v, %v", key, again, err)
		}
	})
}

func TestExpandAddresses(t *testing.T) {
	t.Parallel()
	for in, n := range map[string]int{
		"10.0.0.5": 1, "10.0.0.5-10.0.0.5": 1, "10.0.0.250-10.0.1.4": 11, "10.0.0.0-10.0.15.255": 4096,
		"10.0.0.0-10.0.16.0": 0, "10.0.0.6-10.0.0.5": 0, "": 0, "10.0.0.5-": 0, "-10.0.0.5": 0, "10.0.0.256": 0, "10.0.0.0/24": 0, "::1": 0,
		"::ffff:10.0.0.5": 0, "127.0.0.1": 0, "169.254.1.1": 0, "224.0.0.1": 0, "0.0.0.1": 0, "255.255.255.255": 0, "240.0.0.1": 0, "010.0.0.5": 0,
		"10.0.0.5 ": 0, "{{x}}": 0, "10.0.0.5-10.0.0.9-10.0.0.12": 0,
	} {
		all, err := domain.ExpandAddresses(in)
		if len(all) != n || (err == nil) != (n > 0) {
			t.Errorf("%q: %d addresses, %v", in, len(all), err)
		}
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	closed := domain.TargetPolicy{Denied: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/16"), netip.MustParsePrefix("2001:db8:9::/48")}}
	open := domain.TargetPolicy{AllowLoopback: true}
	address := func(p domain.TargetPolicy) func(string) error {
		return func(s string) error { return domain.CheckHostAddress(s, p) }
	}
	always := []string{
		"", "169.254.169.254", "::ffff:169.254.169.254", "::169.254.169.254", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "fd00:ec2::253", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42", "168.63.129.16", "::ffff:168.63.129.16", "192.0.0.192", "0.0.0.0", "0.1.2.3",
		"::", "224.0.0.1", "255.255.255.255", "ff02::1", "100.100.100.200", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "2001:0:a9fe:a9fe::1", "10.0.0.1%eth0",
		"::ffff:0.0.0.0", "2130706433", "127.1", "0x7f.1", "0x7f000001", "127.0x1", "1.2.3", "-oProxyCommand=x", "a b", "a..b", "host.", ".host", "a_b", "{{x}}", "user@host", "host:22", "[::1]",
		strings.Repeat("a.", 127) + "ab",
	}
	check(t, "target", address(closed), []string{"192.0.2.1", "10.8.0.1", "2001:db8::1", "host.example", "h1", "::ffff:192.0.2.1"},
		append(always, "127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1", "localhost", "LocalHost", "10.9.1.1", "::ffff:10.9.1.1", "2001:db8:9::1"))
	check(t, "target", address(open), []string{"127.0.0.1", "::1", "localhost", "10.9.1.1"}, always)
}

func facts() domain.Facts {
	f := machine(2, 4, 1, 2*gib, 8*gib)
	f.Hostname, f.Kernel = "h1", "6.1.0"
	f.VolumeGroups = []domain.VolumeGroup{{Name: "kloigos-vg", SizeBytes: gib, FreeBytes: gib}}
	return f
}

func TestCleanKeepsWhatIsSound(t *testing.T) {
	t.Parallel()
	f := facts()
	if err := f.Clean(); err != nil {
		t.Fatal(err)
	}
	if len(f.CPUs) != 8 || len(f.VolumeGroups) != 1 || len(f.Devices) != 7 || f.Uplink.Gateway != "10.0.2.2" || f.Devices[0].ByID != blank()[0] {
		t.Errorf("lost something: %+v", f)
	}
}

func TestCleanTakesUnusualUplinks(t *testing.T) {
	t.Parallel()
	f := facts()
	f.Uplink.Gateway = ""
	if err := f.Clean(); err != nil || f.Uplink.Interface != "ens3" {
		t.Errorf("a point-to-point link: %v, %+v", err, f.Uplink)
	}
	f.Uplink.Address, f.Uplink.Prefix = "", 0
	if err := f.Clean(); err != nil || f.Uplink != (domain.Uplink{}) {
		t.Errorf("a link without IPv4: %v, %+v", err, f.Uplink)
	}
}

func TestCleanRefusesLies(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]func(*domain.Facts){
		"machine-id":             func(f *domain.Facts) { f.MachineID = "../../etc/passwd" },
		"machine-id, upper case": func(f *domain.Facts) { f.MachineID = strings.Repeat("A", 32) },
		"machine-id with end":    func(f *domain.Facts) { f.MachineID += "\n" },
		"no CPUs":                func(f *domain.Facts) { f.CPUs = nil },
		"CPU twice":              func(f *domain.Facts) { f.CPUs = append(f.CPUs, f.CPUs[0]) },
		"CPU -1":                 func(f *domain.Facts) { f.CPUs[0].CPU = -1 },
		"CPU 8192":               func(f *domain.Facts) { f.CPUs[0].CPU = domain.MaxCPU + 1 },
		"CPU nowhere":            func(f *domain.Facts) { f.CPUs[0].Node = 7 },
		"too many CPUs":          func(f *domain.Facts) { f.CPUs = make([]domain.CPU, 10000) },
		"no nodes":               func(f *domain.Facts) { f.Nodes = nil },
		"node twice":             func(f *domain.Facts) { f.Nodes[1].Node = 0 },
		"node of too much":       func(f *domain.Facts) { f.Nodes[1].MemoryBytes = math.MaxInt64 },
		"node of less":           func(f *domain.Facts) { f.Nodes[1].MemoryBytes = -1 },
		"no memory":              func(f *domain.Facts) { f.MemoryBytes = 0 },
		"much memory":            func(f *domain.Facts) { f.MemoryBytes = 1 << 50 },
		"uplink":                 func(f *domain.Facts) { f.Uplink.Interface = "ens3; reboot" },
		"gateway":                func(f *domain.Facts) { f.Uplink.Gateway = "{{ lookup('pipe', 'id') }}" },
		"gateway with a zone":    func(f *domain.Facts) { f.Uplink.Gateway = "fe80::1%$(id)" },
		"address in IPv6":        func(f *domain.Facts) { f.Uplink.Address = "2001:db8::1" },
		"prefix":                 func(f *domain.Facts) { f.Uplink.Prefix = 33 },
		"no prefix":              func(f *domain.Facts) { f.Uplink.Prefix = 0 },
		"alias as uplink":        func(f *domain.Facts) { f.Uplink.Interface = "eth0:1" },
	} {
		f := facts()
		lie(&f)
		if err := f.Clean(); err == nil {
			t.Errorf("%s: believed", name)
		}
	}
}

// TestCleanFactsAreSafe: whatever a host tells, what is left holds nothing
// that a terminal, a page or a playbook would act on, and can be planned with.
func TestCleanFactsAreSafe(t *testing.T) {
	t.Parallel()
	nasty := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\x1b]0;x\a", "a\u202eb", "x\x00y", "\xff\xfe", strings.Repeat("ü", 500), "../..", "\u2066", "{{x}}"}))
	size := rapid.SampledFrom([]int64{0, 1, -1, gib, math.MaxInt64, math.MinInt64, 1 << 50})
	rapid.Check(t, func(t *rapid.T) {
		f := facts()
		f.Hostname, f.Kernel, f.Architecture, f.OS.Name = nasty.Draw(t, "hostname"), nasty.Draw(t, "kernel"), nasty.Draw(t, "arch"), nasty.Draw(t, "os")
		f.Incarnation, f.Nodes[0].CPUs = nasty.Draw(t, "incarnation"), nasty.Draw(t, "cpus")
		for i := range f.Devices {
			d := &f.Devices[i]
			d.Path, d.ByID, d.Model, d.Serial = nasty.Draw(t, "path"), rapid.OneOf(nasty, rapid.Just(blank()[0])).Draw(t, "by-id"), nasty.Draw(t, "model"), nasty.Draw(t, "serial")
			d.SizeBytes, d.Signatures, d.Partitions = size.Draw(t, "size"), rapid.SliceOfN(nasty, 0, 3).Draw(t, "signatures"), rapid.IntRange(-1, 1).Draw(t, "partitions")
		}
		f.VolumeGroups = append(f.VolumeGroups, domain.VolumeGroup{Name: nasty.Draw(t, "vg"), SizeBytes: size.Draw(t, "vg size"), FreeBytes: size.Draw(t, "vg free")})
		if rapid.Bool().Draw(t, "no uplink") {
			f.Uplink = domain.Uplink{Address: nasty.Draw(t, "address"), Gateway: nasty.Draw(t, "gateway")}
		}
		if err := f.Clean(); err != nil {
			t.Fatalf("none of this is a reason to refuse: %v", err)
		}
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var every func(v any)
		every = func(v any) {
			switch v := v.(type) {
			case string:
				if !utf8.ValidString(v) || len(v) > 4096 || strings.ContainsAny(v, "\x00\x1b\r\n\a\x7f\u202e\u2066\u009b") {
					t.Fatalf("%q is left", v)
				}
			case map[string]any:
				for _, x := range v {
					every(x)
				}
			case []any:
				for _, x := range v {
					every(x)
				}
			}
		}
		var all any
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		every(all)
		if f.Uplink.Interface == "" && f.Uplink != (domain.Uplink{}) {
			t.Fatalf("an uplink of nothing: %+v", f.Uplink)
		}
		for _, d := range f.Devices {
			if d.SizeBytes < 0 || d.ByID != "" && d.ByID != blank()[0] && !strings.HasPrefix(d.ByID, "/dev/disk/by-id/") {
				t.Fatalf("%+v", d)
			}
		}
		l, err := domain.PlanLayout(f, domain.LayoutRequest{Count: 3, CPUsEach: 2, Devices: blank()})
		if err == nil {
			var space int64
			for _, d := range f.Devices {
				if d.ByID == blank()[0] {
					space = max(space, d.SizeBytes)
				}
			}
			for _, g := range f.VolumeGroups {
				if g.Name == domain.DefaultVolumeGroup {
					space += g.FreeBytes
				}
			}
			promises(t, f, l, space)
		}
	})
}

func TestMissingCapabilities(t *testing.T) {
	t.Parallel()
	f := facts()
	if got := f.Missing(); len(got) != 3 {
		t.Errorf("without cgroups, cpuset and AppArmor: %q", got)
	}
	f.Capabilities = domain.Capabilities{CGroup2: true, CPUSet: true, AppArmor: true}
	if got := f.Missing(); len(got) != 0 {
		t.Errorf("nothing is missing but %q", got)
	}
	f.Uplink, f.CPUs = domain.Uplink{}, f.CPUs[:1]
	if got := f.Missing(); len(got) != 2 {
		t.Errorf("no uplink and one CPU: %q", got)
	}
}

func TestErrorsTellTheNextStep(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		domain.ErrCodeUnreachable, domain.ErrCodeHostKeyChanged, domain.ErrCodeSudoRefused, domain.ErrCodeTaskFailed, domain.ErrCodeFenced, domain.ErrCodeNoFence,
		domain.ErrCodeTimeout, domain.ErrCodeCancelled, domain.ErrCodePlaybookError, domain.ErrCodeInternal, domain.ErrCodeDeadline, domain.ErrCodeHostDiffers,
		domain.ErrCodeSuperseded, domain.ErrCodeAccessDenied, domain.ErrCodeTargetDenied, domain.ErrCodeHostUnsupported, domain.ErrCodeDuplicate, domain.ErrCodeKilled, domain.ErrCodeIdentityTaken, domain.ErrCodeAddressOnHost,
		domain.ErrCodeAccountClosed, domain.ErrCodeLoginPrints,
	} {
		if domain.NextStep(code) == "" {
			t.Errorf("nobody says what to do about %s", code)
		}
		if (&domain.JobError{Code: code}).Healable() != (code == domain.ErrCodeUnreachable || code == domain.ErrCodeKilled) {
			t.Errorf("%s heals, or does not", code)
		}
	}
}
