package ansible

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// people are admin users of a host as they are met in the field: their shell, their .bashrc and the last fields of
// their line in /etc/shadow.
var people = map[string]struct{ shell, bashrc, aging string }{
	"fine":    {"/bin/bash", "", "20000:0:99999:7:::"},
	"greeter": {"/bin/bash", "echo Welcome to h1\n", "20000:0:99999:7:::"},
	"noisy":   {"/bin/bash", "printf '{\\n\"load\": 0.4\\n'\n", "20000:0:99999:7:::"},
	"expired": {"/bin/bash", "", "20000:0:99999:7::10000:"},
	"former":  {"/usr/sbin/nologin", "", "20000:0:99999:7:::"},
	"mute":    {"/bin/false", "", "20000:0:99999:7:::"},
}

// populated is a bed whose sshd asks PAM, on a host that has these people: it runs where its own files lie over
// /etc/passwd and /etc/shadow.
func populated(t *testing.T) *bed {
	t.Helper()
	b := setup(t)
	if os.Geteuid() != 0 || exec.Command("unshare", "-m", "true").Run() != nil {
		t.Skip("only root can give an sshd other accounts")
	}
	passwd, shadow := "root:x:0:0:root:/root:/bin/bash\nsshd:x:101:65534::/run/sshd:/usr/sbin/nologin\n", "root:*:20000:0:99999:7:::\nsshd:*:20000:0:99999:7:::\n"
	uid := 64200
	for name, p := range people {
		uid++
		passwd += fmt.Sprintf("%[1]s:x:%[2]d:%[2]d::%[3]s/home/%[1]s:%[4]s\n", name, uid, b.dir, p.shell)
		shadow += fmt.Sprintf("%s:*:%s\n", name, p.aging)
		b.write(t, "home/"+name+"/.bashrc", []byte(p.bashrc), 0o644)
		if err := os.Chown(filepath.Join(b.dir, "home", name), uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	b.write(t, "passwd", []byte(passwd), 0o644)
	b.write(t, "shadow", []byte(shadow), 0o600)
	config, err := os.ReadFile(filepath.Join(b.dir, "sshd_config"))
	if err != nil {
		t.Fatal(err)
	}
	for dir := b.dir; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(b.dir, "authorized_keys"), 0o644); err != nil {
		t.Fatal(err)
	}
	old := b.port
	b.port = freePort(t)
	text := strings.NewReplacer("UsePAM no", "UsePAM yes", fmt.Sprint(":", old), fmt.Sprint(":", b.port), "SetEnv PATH="+b.dir+"/bin:", "SetEnv PATH=").Replace(string(config))
	b.write(t, "sshd_config_of_people", []byte(text), 0o600)
	b.startSSHD(t, "unshare", "-m", "--propagation", "private", "sh", "-ec",
		`mount --bind "$0/passwd" /etc/passwd; mount --bind "$0/shadow" /etc/shadow; exec /usr/sbin/sshd -D -e -f "$0/sshd_config_of_people"`, b.dir)
	return b
}

// A closed account, a shell that prints and a shell that runs nothing have errors of their own. None of them reads as a
// host that is unreachable, or as a broken module.
func TestAdminUsersOfTheField(t *testing.T) {
	b := populated(t)
	for name, want := range map[string]struct {
		code  FailureCode
		words string
	}{
		"fine":    {},
		"greeter": {}, // Ansible passes over lines before its answer that can't be a part of it
		"noisy":   {CodeLoginPrints, `prints text when a command runs, such as "{"`},
		"expired": {CodeAccountClosed, "Your account has expired"},
		"former":  {CodeAccountClosed, "This account is currently not available"},
		"mute":    {CodeAccountClosed, "runs no commands"},
	} {
		h := b.host()
		h.User = name
		play := b.play("modules.yml", nil)
		play.Hosts = []Host{h}
		play.Timeout = time.Minute
		out, _ := b.run(t, play)
		if f := out.Failure; want.code == "" && f != nil || want.code != "" && (f == nil || f.Code != want.code || !strings.Contains(f.Message, want.words) || f.Retryable()) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
