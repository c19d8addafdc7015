package testhost

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The first machine has a cable for its card, and one for the way out; the second one has its card and nothing else.
func TestTwoMachinesAtASwitch(t *testing.T) {
	t.Parallel()
	const second = "10.0.2.16"
	first, other := testOptions(), testOptions()
	first.Switch, first.Addresses = "/tmp/s,1", []string{second}
	other.Switch, other.Addresses, other.Address, other.Through = "/tmp/s,1", nil, second, 40016
	for _, o := range []Options{first, other} {
		if err := o.validate(); err != nil {
			t.Fatal(err)
		}
	}
	cable := "stream,id=%s,server=off,addr.type=unix,addr.path=/tmp/s,,1"
	card, up := strings.Replace(cable, "%s", "net", 1), strings.Replace(cable, "%s", "up", 1)
	if diff := cmp.Diff([]string{
		"-netdev", card,
		"-netdev", "user,id=out,hostfwd=tcp:127.0.0.1:40015-10.0.2.15:22,hostfwd=tcp:127.0.0.1:40016-10.0.2.16:22",
		"-netdev", up,
		"-netdev", "hubport,id=hub-out,hubid=0,netdev=out", "-netdev", "hubport,id=hub-up,hubid=0,netdev=up",
	}, first.network(map[string]int{GuestAddress: 40015, second: 40016})); diff != "" {
		t.Errorf("the first (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"-netdev", card}, other.network(nil)); diff != "" {
		t.Errorf("the second (-want +got):\n%s", diff)
	}
	if a, b := first.hardwareAddress(), other.hardwareAddress(); a == b {
		t.Errorf("both have the hardware address %q", a)
	}
	if text := interfaces(second); !strings.Contains(text, "address "+second+"/24\n") || !strings.HasSuffix(text, "gateway 10.0.2.2\n") {
		t.Errorf("the second reads %q", text)
	}
}

func TestASecondMachineNeedsAWayOut(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Options){
		"no switch":                func(o *Options) { o.Switch, o.Through = "", 40016 },
		"forwards of both of them": func(o *Options) { o.Through, o.Addresses = 40016, []string{"10.0.2.101"} },
		"an address elsewhere":     func(o *Options) { o.Address = "192.0.2.1" },
	} {
		o := testOptions()
		o.Switch = "/tmp/switch"
		if change(&o); o.validate() == nil {
			t.Errorf("%s is allowed", name)
		}
	}
}
