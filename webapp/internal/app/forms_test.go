package app

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/api"
	"kloigos/webapp/internal/apitest"
)

const aKey = "0b0e9d6c-1111-4111-8111-000000000001"

func TestRegisterAHost(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("register-host", http.StatusAccepted, api.Host{ID: apitest.HostID}, apitest.JobID)
	a := s.post("/hosts/new", url.Values{
		"name": {" h9 "}, "address": {"root@192.0.2.9"}, "port": {"2222"}, "admin_user": {"admin"}, "region": {"north"}, "networks": {"default, wan"},
		"labels": {"rack=b2, disk=nvme"}, "profile": {"build"}, "trust": {"first"}, "host_key": {"ignored"}, "key": {aKey},
	})
	s.wantRedirect(a, "/hosts/"+apitest.HostID+"/setup?said=registered")
	var got api.RegisterHost
	call := s.only("register-host")
	call.Into(t, &got)
	want := api.RegisterHost{
		Name: "h9", Address: "192.0.2.9", Port: 2222, AdminUser: "root", Region: "north", Networks: []string{"default", "wan"},
		Labels: map[string]string{"rack": "b2", "disk": "nvme"}, Profile: "build", TrustOnFirstUse: true,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if call.Header.Get("Idempotency-Key") != aKey {
		t.Error("the form's key was not sent")
	}
}

func TestABadFormKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Refuse("register-host", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{
		{Field: "body.name", Message: "must not end with a hyphen"}, {Field: "purpose", Message: "is odd"},
	}})
	a := s.post("/hosts/new", url.Values{"name": {"h9-"}, "address": {"<b>"}, "labels": {"a=b"}, "port": {"22"}, "key": {aKey}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, `value="h9-"`, `value="&lt;b&gt;"`, `value="a=b"`, "Must not end with a hyphen", `aria-invalid="true"`, `aria-describedby="name-problem name-hint"`, "<code>purpose</code>")
	if strings.Contains(a.body, aKey) {
		t.Error("the same key would be sent with another form")
	}
}

func TestWhatTheWebAppCanTellItselfIsNotSent(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.post("/hosts/new", url.Values{"name": {"h9"}, "address": {"192.0.2.9"}, "port": {"ssh"}, "labels": {"no pair"}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "Enter a number from 1 to 65535", "is not of the form key=value")
	if n := len(s.api.Calls("register-host")); n != 0 {
		t.Errorf("was sent %d times", n)
	}
}

func TestSetALayout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		form url.Values
		want api.SetLayout
	}{
		"alike": {
			url.Values{"mode": {"count"}, "count": {"3"}, "cpus_each": {"2"}, "units": {"ignored"}, "devices": {"/dev/disk/by-id/a", "/dev/disk/by-id/b"}, "system_memory_bytes": {"1 GiB"}},
			api.SetLayout{Count: 3, CPUsEach: 2, Devices: []string{"/dev/disk/by-id/a", "/dev/disk/by-id/b"}, SystemMemoryBytes: 1 << 30},
		},
		"by name": {
			url.Values{"mode": {"sets"}, "count": {"3"}, "units": {"1-3\r\n\r\n 4, 6 = 20 GiB\r\n"}, "system_cpus": {"0"}, "volume_bytes": {"8G"}, "volume_group": {"vg0"}},
			api.SetLayout{SystemCPUs: "0", VolumeGroup: "vg0", VolumeBytes: 8 << 30, Units: []api.SetUnit{{CPUs: "1-3", VolumeBytes: 8 << 30}, {CPUs: "4,6", VolumeBytes: 20 << 30}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(t)
			s.api.Answer("set-layout", 200, apitest.ProbedHost())
			c.form.Set("version", "7")
			s.wantRedirect(s.post("/hosts/h3/layout", c.form), "/hosts/"+apitest.ProbedHost().ID+"/setup?said=layout-set")
			call := s.only("set-layout")
			var got api.SetLayout
			call.Into(t, &got)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if m := call.Header.Get("If-Match"); m != `"7"` {
				t.Errorf("If-Match %q", m)
			}
		})
	}
}

func TestALayoutThatSomeoneElseChanged(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Refuse("set-layout", api.Problem{Status: http.StatusPreconditionFailed, Code: "version_mismatch"})
	a := s.post("/hosts/h3/layout", url.Values{"mode": {"count"}, "count": {"5"}, "cpus_each": {"1"}, "version": {"6"}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "Someone else changed this first", `value="5"`, `name="version" value="7"`)
}

func TestLayOutFreeUnitsAnew(t *testing.T) {
	t.Parallel()
	s := setup(t)
	preview := apitest.Layout()
	preview.Units[0].Kept = "h1-cu01"
	s.api.Answer("preview-layout", 200, preview)
	a := s.get("/hosts/h1/layout")
	s.wantText(a, "Change the layout of h1", `action="/hosts/`+apitest.HostID+`/relayout"`, "Units that stay", ">h1-cu01<", ">h1-cu03<", "allocated",
		"4-5</textarea>", "cu01", "new 1", "new 2", "stays", "Change the layout")
	// What can't change is no field: the system's part, the volume group, the disk that is in it.
	for _, field := range []string{`name="system_cpus"`, `name="system_memory_bytes"`, `name="volume_group"`, `value="/dev/disk/by-id/virtio-kloigos0"`} {
		if strings.Contains(a.body, field) {
			t.Errorf("there is a field %s", field)
		}
	}
	form := url.Values{"mode": {"sets"}, "units": {"4\n5=8 GiB"}, "version": {"7"}}
	s.api.Answer("relayout-host", 202, apitest.Host(), apitest.JobID)
	s.wantRedirect(s.post("/hosts/h1/relayout", form), "/jobs/"+apitest.JobID)
	call := s.only("relayout-host")
	if plan := call.Query; plan != "" {
		t.Errorf("query %q", plan)
	}
	var got api.SetLayout
	call.Into(t, &got)
	if d := cmp.Diff(api.SetLayout{Units: []api.SetUnit{{CPUs: "4"}, {CPUs: "5", VolumeBytes: 8 << 30}}}, got); d != "" {
		t.Error(d)
	}
	if m := call.Header.Get("If-Match"); m != `"7"` {
		t.Errorf("If-Match %q", m)
	}
	s.api.Refuse("relayout-host", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "units[0].cpus", Message: "CPUs 3 already belong to h1-cu01"}}})
	a = s.post("/hosts/h1/relayout", form)
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "CPUs 3 already belong to h1-cu01", "4\n5=8 GiB</textarea>")
	if n := len(s.api.Calls("set-layout")); n != 0 {
		t.Error("the layout of a host that is in use was set")
	}
	s.wantText(s.get("/hosts/h1"), "Change the layout", `href="/hosts/`+apitest.HostID+`/layout"`)
}

func TestPreviewOfALayout(t *testing.T) {
	t.Parallel()
	s := setup(t)
	form := url.Values{"mode": {"count"}, "count": {"3"}, "cpus_each": {"2"}}
	part := s.post("/hosts/h3/layout/preview", form, header("HX-Request", "true"))
	s.wantText(part, `id="preview"`, "7 of 8 CPUs", "7 GiB of 8 GiB", "63 GiB of 63 GiB", `data-cpus="4-5" data-shares="2 GiB · 18 GiB"`, `data-system="0"`)
	if strings.Contains(part.body, "<html") || strings.Contains(part.body, "<figure") {
		t.Error("a whole page for a part")
	}
	s.wantText(s.post("/hosts/h3/layout/preview", form), "<html", "63 GiB of 63 GiB", `value="3"`, "CPU 4, core 0, node 1: unit 2")
	s.api.Refuse("preview-layout", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "count", Message: "3 units of 4 CPUs do not fit"}}})
	s.wantText(s.post("/hosts/h3/layout/preview", form, header("HX-Request", "true")), "This does not fit.", "3 units of 4 CPUs do not fit")
	s.api.Refuse("preview-layout", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "units[1].cpus", Message: "CPUs 3 already belong to units[0]"}}})
	s.wantText(s.post("/hosts/h3/layout/preview", form, header("HX-Request", "true")), `data-problem="units[1].cpus"`, "Line 2: CPUs 3 already belong to line 1")
	if n := len(s.api.Calls("set-layout")); n != 0 {
		t.Error("a preview set the layout")
	}
}

// TestEditHost: all fields are sent with the version that was shown, and what was typed is kept where it is refused.
func TestEditHost(t *testing.T) {
	t.Parallel()
	s := setup(t)
	form := url.Values{
		"address": {"192.0.2.99"}, "port": {"22"}, "region": {"eu"}, "zone": {""}, "networks": {"default, storage"}, "labels": {"rack=r2"}, "profile": {"build"}, "version": {"7"},
	}
	s.api.Answer("update-host", 200, apitest.Host())
	a := s.post("/hosts/h1/edit", form)
	if a.StatusCode != http.StatusSeeOther {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	sent := s.only("update-host")
	var got api.UpdateHost
	if err := json.Unmarshal([]byte(sent.Body), &got); err != nil {
		t.Fatal(err)
	}
	if *got.Address != "192.0.2.99" || *got.Zone != "" || *got.Profile != "build" || len(*got.Networks) != 2 || (*got.Labels)["rack"] != "r2" || got.HostKey != nil {
		t.Errorf("sent %s", sent.Body)
	}
	s = setup(t)
	s.api.Refuse("update-host", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "zone", Message: "no zone is called so"}}})
	s.wantText(s.post("/hosts/h1/edit", form), "No zone is called so", `value="192.0.2.99"`, `value="rack=r2"`)
}

// TestTheDrawnCPUsOfALayout: the map is there for the script and hidden without
// it; what stays can't be drawn over.
func TestTheDrawnCPUsOfALayout(t *testing.T) {
	t.Parallel()
	s := setup(t)
	a := s.get("/hosts/h3/layout")
	s.wantText(a, `data-word="unit" data-first="0" hidden`, `data-brush="system"`, `data-cpu="7" data-place="CPU 7, core 3, node 1"`)
	if n := strings.Count(a.body, "data-cpu="); n != 8 {
		t.Errorf("%d CPUs are drawn", n)
	}
	if strings.Contains(a.body, "data-fixed") {
		t.Error("some CPUs of a host without units can't be drawn over")
	}
	a = s.get("/hosts/h1/layout") // units 1 and 3 stay, and with them the system
	s.wantText(a, `data-word="new" data-first="2" hidden`)
	if n := strings.Count(a.body, "data-fixed"); n != 6 || strings.Contains(a.body, `data-brush="system"`) {
		t.Errorf("%d CPUs stay", n)
	}
	script := regexp.MustCompile(`src="/static/layout\.[0-9a-f]+\.js"`)
	if !script.MatchString(a.body) || script.MatchString(s.get("/hosts/h1").body) {
		t.Error("the script belongs to this page and no other")
	}
}

// TestALayoutThatIsSetIsShownAsItWasAskedFor: sending the form again as it is
// asks for the same layout.
func TestALayoutThatIsSetIsShownAsItWasAskedFor(t *testing.T) {
	t.Parallel()
	s := setup(t)
	h := apitest.ProbedHost()
	h.Layout = apitest.Layout() // of 63 GiB for 7 CPUs: 27, 18 and 18 GiB
	h.Layout.Units[1].VolumeBytes, h.Layout.SystemMemoryBytes = 4716<<20, 3<<29
	s.api.Answer("get-host", 200, h)
	s.wantText(s.get("/hosts/h3/layout"), "1-3\n4-5 = 4716 MiB\n6-7</textarea>", `name="system_memory_bytes" type="text" value="1536 MiB"`)
}

// TestALayoutBeforeDisksAreChosen: CPUs and memory are shown all the same.
func TestALayoutBeforeDisksAreChosen(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.On("preview-layout", func(w http.ResponseWriter, r *http.Request) {
		var in api.SetLayout
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Devices) == 0 {
			apitest.Problem(w, api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "devices", Message: "name the disks"}}})
			return
		}
		apitest.JSON(w, apitest.Layout())
	})
	form := url.Values{"mode": {"count"}, "count": {"3"}, "cpus_each": {"2"}}
	s.wantText(s.post("/hosts/h3/layout/preview", form, header("HX-Request", "true")), "no disk selected", "7 of 8 CPUs")
	form.Set("devices", "/dev/disk/by-id/virtio-kloigos0")
	if a := s.post("/hosts/h3/layout/preview", form, header("HX-Request", "true")); strings.Contains(a.body, "no disk is chosen") {
		t.Error("a disk is chosen")
	}
}

func TestDangerousActionsWantTheName(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("decommission-host", http.StatusAccepted, apitest.Host(), apitest.JobID)
	a := s.post("/hosts/h1/decommission", url.Values{"confirm": {"h2"}})
	s.wantStatus(a, http.StatusConflict)
	s.wantText(a, "nothing was done")
	if n := len(s.api.Calls("decommission-host")); n != 0 {
		t.Fatal("it was done all the same")
	}
	s.wantRedirect(s.post("/hosts/h1/decommission", url.Values{"confirm": {"h1"}}), "/jobs/"+apitest.JobID)
	if m := s.only("decommission-host").Header.Get("If-Match"); m != `"7"` {
		t.Errorf("If-Match %q", m)
	}
}

func TestConfirmAHostKey(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("confirm-host-key", http.StatusAccepted, apitest.Host(), apitest.JobID)
	s.wantRedirect(s.post("/hosts/h2/host-key", url.Values{"fingerprint": {"SHA256:abc"}}), "/jobs/"+apitest.JobID+"?said=key-confirmed")
	var got api.ConfirmHostKey
	s.only("confirm-host-key").Into(t, &got)
	if got.Fingerprint != "SHA256:abc" {
		t.Errorf("sent %+v", got)
	}
}

// TestWhatIsFreeIsShownWhileChoosing: by size, with the filters of the form;
// where nothing fits, what there is.
func TestWhatIsFreeIsShownWhileChoosing(t *testing.T) {
	t.Parallel()
	s := setup(t)
	small, large, draining := apitest.Unit(2, "free"), apitest.Unit(1, "free"), apitest.Unit(3, "free")
	small.HostLabels, draining.HostState = map[string]string{"disk": "nvme"}, "draining"
	s.api.On("list-compute-units", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("min_cpus") {
		case "9":
			apitest.JSON(w, apitest.Page[api.ComputeUnit]())
		default:
			apitest.JSON(w, apitest.Page(small, large, draining))
		}
	})
	ask := func(form url.Values) answer {
		return s.post("/allocations/new/capacity", form, header("HX-Request", "true"))
	}
	a := ask(url.Values{"cpu_count": {"2"}, "zone": {"a"}, "host": {"h1"}})
	s.wantText(a, `id="capacity"`, "2 free units fit", "<b>2 CPUs</b>", "<b>3 CPUs</b>", "used first", "2 GiB memory, 18 GiB disk")
	if strings.Contains(a.body, "<html") {
		t.Error("a whole page for a part")
	}
	if q := s.only("list-compute-units").Query; q != "host=h1&limit=500&min_cpus=2&sort=cpu_count&state=free&zone=a" {
		t.Errorf("the API was asked %q", q)
	}
	s.wantText(ask(url.Values{"host_labels": {"disk=nvme"}}), "1 free unit fits")
	s.wantText(ask(url.Values{"cpu_count": {"9"}}), "no free unit fits", "<b>2 CPUs</b>")
	s.wantText(ask(url.Values{"cpu_count": {"many"}}), "2 free units fit")
	s.wantText(ask(url.Values{"unit": {"h1-cu02"}}), ">h1-cu02</a>", "2 CPUs, 2 GiB of memory")
	s.wantText(ask(url.Values{"unit": {"h1-cu77"}}), "no such unit")
	s.wantText(s.get("/allocations/new"), `id="capacity"`, "2 free units fit", `hx-post="/allocations/new/capacity"`, `hx-validate="false"`)
}

func TestAllocateAUnit(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("create-allocation", http.StatusAccepted, apitest.Allocation(), apitest.JobID)
	a := s.post("/allocations/new", url.Values{
		"cpu_count": {"2"}, "ssh_keys": {apitest.Key + "\r\n\r\n" + apitest.Key + "2\r\n"}, "zone": {"a"}, "host_labels": {"disk=nvme"}, "labels": {"team=web\nfor=ci"}, "key": {aKey},
	})
	s.wantRedirect(a, "/jobs/"+apitest.JobID)
	var got api.CreateAllocation
	s.only("create-allocation").Into(t, &got)
	want := api.CreateAllocation{
		CPUs: 2, Zone: "a", SSHKeys: []string{apitest.Key, apitest.Key + "2"}, HostLabels: map[string]string{"disk": "nvme"}, Labels: map[string]string{"team": "web", "for": "ci"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestWhyNoUnitFits(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Refuse("create-allocation", api.Problem{Status: http.StatusConflict, Code: "no_capacity", Detail: "no unit fits", Placement: &api.WhyNot{
		Units: 12, Ruled: []api.RuledOut{{Filter: "state", Units: 9, Why: "they are not free"}, {Filter: "cpu_count", Units: 3, Why: "they have fewer than 8 CPUs"}}, Nearest: "4 CPUs would fit on h1-cu02",
	}})
	a := s.post("/allocations/new", url.Values{"cpu_count": {"8"}, "ssh_keys": {apitest.Key}})
	s.wantStatus(a, http.StatusConflict)
	s.wantText(a, "No unit fits. Nothing was allocated.", "Of 12 units:", "9 units out", "They have fewer than 8 CPUs", "4 CPUs would fit on h1-cu02", `value="8"`, apitest.Key)
}

func TestReplaceKeysAndGiveBack(t *testing.T) {
	t.Parallel()
	s := setup(t)
	at := "/allocations/" + apitest.AllocationID
	s.api.Refuse("replace-allocation-keys", api.Problem{Status: 422, Code: "invalid", Errors: []api.FieldProblem{{Field: "ssh_keys[1]", Message: "is not an SSH public key"}}})
	a := s.post(at+"/ssh-keys", url.Values{"ssh_keys": {apitest.Key + "\nnonsense"}})
	s.wantStatus(a, http.StatusUnprocessableEntity)
	s.wantText(a, "No. 2: is not an SSH public key", "nonsense")
	s.api.Answer("replace-allocation-keys", http.StatusAccepted, apitest.Allocation(), apitest.JobID)
	s.wantRedirect(s.post(at+"/ssh-keys", url.Values{"ssh_keys": {apitest.Key}}), "/jobs/"+apitest.JobID)
	s.api.Answer("deallocate", http.StatusAccepted, apitest.Allocation(), apitest.JobID)
	s.wantRedirect(s.post(at+"/deallocate", url.Values{"confirm": {"ada"}}), "/jobs/"+apitest.JobID)
	var got api.Deallocate
	s.only("deallocate").Into(t, &got)
	if got.Confirm != "ada" {
		t.Errorf("sent %+v", got)
	}
}

// TestRestartWithNewIsolation: a unit that needs it says so, and one button restarts all of a page, after a question that names whose.
func TestRestartWithNewIsolation(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const says, bulk = "Restart needed for the new isolation", `action="/allocations/move-network"`
	at := "/allocations/" + apitest.AllocationID
	for _, page := range []string{"/allocations", at} {
		if a := s.get(page); strings.Contains(a.body, says) || strings.Contains(a.body, "move-network") {
			t.Errorf("%s offers a restart that is not needed", page)
		}
	}
	needs := apitest.Allocation()
	needs.RestartNeeded = true
	needs.Operations = append(needs.Operations, api.Operation{Name: "move-network", Allowed: true})
	busy := needs
	busy.ID, busy.Operations = "5d3f1c1e-0000-4000-8000-0000000000c2", []api.Operation{{Name: "move-network", Prevents: "a job is queued"}}
	s.api.Answer("list-allocations", http.StatusOK, apitest.Page(needs, busy, apitest.Allocation()))
	s.api.Answer("get-allocation", http.StatusOK, needs)
	s.wantText(s.get("/allocations"), says, "1 unit of this list", bulk, `name="allocation" value="`+needs.ID+`"`,
		"All sessions and services of "+needs.LoginUser+" ("+needs.Unit+") end once")
	s.wantText(s.get(at), says, `action="`+at+`/move-network"`, "end once")
	s.api.Answer("move-allocation-network", http.StatusAccepted, needs, apitest.JobID)
	s.wantRedirect(s.post(at+"/move-network", nil), "/jobs/"+apitest.JobID)
	s.wantRedirect(s.post("/allocations/move-network", url.Values{"allocation": {needs.ID, busy.ID}}), "/jobs?kind=allocation_network")
	s.api.Refuse("move-allocation-network", api.Problem{Status: 409, Code: "own_network"})
	s.wantRedirect(s.post("/allocations/move-network", url.Values{"allocation": {needs.ID}}), "/jobs?kind=allocation_network")
}

// TestProbeTheHostsOfAPage: those that one job can probe, by one button.
func TestProbeTheHostsOfAPage(t *testing.T) {
	t.Parallel()
	s := setup(t)
	if a := s.get("/hosts"); strings.Contains(a.body, `action="/hosts/probe"`) {
		t.Error("of three hosts one can be probed so, which its own page does")
	}
	second := apitest.Host()
	second.ID, second.Name = "5d3f1c1e-0000-4000-8000-0000000000b2", "h<2"
	s.api.Answer("list-hosts", http.StatusOK, apitest.Page(apitest.Host(), second, apitest.WaitingHost()))
	s.wantText(s.get("/hosts"), "Probe these 2 hosts", `name="host" value="`+apitest.HostID+`"`, `name="host" value="`+second.ID+`"`, "1 host of this page can only be probed alone")
	s.api.Answer("probe-hosts", http.StatusAccepted, apitest.Job("hosts_probe", "queued"), apitest.JobID)
	s.wantRedirect(s.post("/hosts/probe", url.Values{"host": {apitest.HostID, second.ID}}), "/jobs/"+apitest.JobID)
	var got api.ProbeHosts
	s.only("probe-hosts").Into(t, &got)
	if d := cmp.Diff(api.ProbeHosts{Hosts: []string{apitest.HostID, second.ID}}, got); d != "" {
		t.Error(d)
	}
}

// TestAJobTellsOfEachOfItsHosts, where it has several.
func TestAJobTellsOfEachOfItsHosts(t *testing.T) {
	t.Parallel()
	s := setup(t)
	j := apitest.Job("hosts_probe", "running")
	j.HostID, j.Host, j.HostCount = "", "", 4
	for i, state := range []string{"succeeded", "failed", "pending", "succeeded"} {
		j.Hosts = append(j.Hosts, api.JobHost{ID: "id" + strconv.Itoa(i), Name: "h" + strconv.Itoa(i+1), State: state})
	}
	j.Hosts[1].Code, j.Hosts[1].Message = "unreachable", "No route to <b>host</b>."
	s.api.Answer("get-job", http.StatusOK, j)
	a := s.get("/jobs/" + apitest.JobID)
	s.wantText(a, "Probe 4 hosts", "2 of 4 done", `href="/hosts/id1">h2</a>`, "No route to &lt;b&gt;host&lt;/b&gt;.", "Remaining", `href="/hosts/id2">h3</a>`, `href="/hosts/id3">h4</a>`)
	j.Hosts = nil
	s.api.Answer("list-jobs", http.StatusOK, apitest.Page(j))
	s.wantText(s.get("/jobs"), "Probe 4 hosts", "4 hosts")
}

func TestJobActions(t *testing.T) {
	t.Parallel()
	s := setup(t)
	at := "/jobs/" + apitest.JobID
	s.api.Answer("retry-job", http.StatusAccepted, apitest.Job("host_probe", "queued"), apitest.JobID)
	s.api.Answer("cancel-job", http.StatusAccepted, apitest.Job("host_probe", "cancelling"))
	s.api.Answer("give-up-job", http.StatusAccepted, apitest.Job("host_decommission", "queued"), "another")
	s.wantRedirect(s.post(at+"/retry?playbook=default", nil), at+"?said=retried")
	s.wantRedirect(s.post(at+"/cancel", nil), at+"?said=cancel-asked")
	s.wantRedirect(s.post(at+"/give-up", nil), "/jobs/another")
	var got api.RetryJob
	s.only("retry-job").Into(t, &got)
	if got.Playbook != "default" || got.FromStep != "" {
		t.Errorf("sent %+v", got)
	}
}

// A job that failed in its second step can be retried from the first as well.
func TestARetryFromAStepThatIsDone(t *testing.T) {
	t.Parallel()
	s := setup(t)
	at := "/jobs/" + apitest.JobID
	s.api.Answer("get-job", http.StatusOK, apitest.Job("host_initialize", "failed"))
	if page := s.get(at).body; !strings.Contains(page, "Retry from step 2, initialize") || strings.Count(page, "Repeat from step") != 1 ||
		!strings.Contains(page, `action="`+at+`/retry?from=bootstrap"`) {
		t.Error("the page does not offer the steps that are done, or those that are not")
	}
	s.api.Answer("retry-job", http.StatusAccepted, apitest.Job("host_initialize", "queued"), apitest.JobID)
	s.wantRedirect(s.post(at+"/retry?from=bootstrap", nil), at+"?said=retried")
	var got api.RetryJob
	s.only("retry-job").Into(t, &got)
	if got.FromStep != "bootstrap" || got.Playbook != "" {
		t.Errorf("sent %+v", got)
	}
}

func TestAddAddresses(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("add-addresses", http.StatusCreated, apitest.Page[api.Address]())
	s.wantRedirect(s.post("/address-pool", url.Values{"network": {"wan"}, "addresses": {"192.0.2.1-192.0.2.9\r\n10.0.0.5  203.0.113.9:2205"}}), "/address-pool?said=addresses-added")
	var got api.AddAddresses
	s.only("add-addresses").Into(t, &got)
	want := api.AddAddresses{Network: "wan", Addresses: []api.AddRange{{Range: "192.0.2.1-192.0.2.9"}, {Range: "10.0.0.5", Endpoint: "203.0.113.9:2205"}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	s.wantText(s.get("/address-pool?said=addresses-added"), "The addresses were added to the pool.")
}

// TestWhatIsGoneIsAskedForTwice: one click only opens the question, with scripts or without.
func TestWhatIsGoneIsAskedForTwice(t *testing.T) {
	t.Parallel()
	s := setup(t)
	for path, action := range map[string]string{"/address-pool": "/remove", "/tokens": "/end"} {
		body := s.get(path).body
		asked := regexp.MustCompile(`<details class="confirm sure">\s*<summary[^>]*>.*?</summary>\s*<form method="post" action="[^"]+`+action+`">`).FindAllString(body, -1)
		if all := strings.Count(body, action+`"`); len(asked) == 0 || len(asked) != all {
			t.Errorf("%s: %d of %d forms that end in %s stand behind a question", path, len(asked), all, action)
		}
	}
}

func TestATokenIsShownOnce(t *testing.T) {
	t.Parallel()
	s := setup(t)
	s.api.Answer("create-token", http.StatusCreated, api.Token{ID: "t9", Name: "ci", Token: "kl_the-secret"})
	a := s.post("/tokens", url.Values{"name": {"ci"}, "days": {"7"}})
	s.wantStatus(a, http.StatusOK)
	s.wantText(a, "kl_the-secret")
	if c := a.Header.Get("Cache-Control"); c != "no-store" {
		t.Errorf("may be kept: %q", c)
	}
	if strings.Contains(s.get("/tokens").body, "kl_the-secret") {
		t.Error("shown again")
	}
}
