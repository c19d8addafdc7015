package host

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

// layoutForm is what was typed, as it was typed.
type layoutForm struct {
	Host                                          api.Host
	Units                                         []api.ComputeUnit // of a host that was initialized
	Mode                                          string            // count or sets
	Count, CPUsEach, Sets                         string
	SystemCPUs, SystemMemory, VolumeGroup, Volume string
	Devices                                       []string
	Version                                       string
	Wrong                                         ui.Problems
	Preview                                       *api.Layout
	NoDisks                                       bool // none is chosen yet: the preview is with all that are empty
}

var layoutFields = []string{"count", "cpus_each", "units", "system_cpus", "system_memory_bytes", "volume_group", "devices", "volume_bytes"}

// again tells whether the host was initialized, so that only its free part can
// be laid out.
func (f *layoutForm) again() bool { return f.Host.Layout != nil && f.Host.State != "probed" }

// action names the operation that the form is for.
func (f *layoutForm) action() string {
	if f.again() {
		return "relayout"
	}
	return "set-layout"
}

// present is the layout that is set, empty before the first.
func (f *layoutForm) present() api.Layout {
	if f.Host.Layout == nil {
		return api.Layout{}
	}
	return *f.Host.Layout
}

// unless is what an empty field means.
func (f *layoutForm) unless(present, first string) string {
	if f.again() {
		return present
	}
	return first
}

// kept are the units that a new layout leaves as they are.
func (f *layoutForm) kept() (kept []api.ComputeUnit) {
	for _, u := range f.Units {
		if !replaceable(u) {
			kept = append(kept, u)
		}
	}
	return kept
}

func replaceable(u api.ComputeUnit) bool { return u.State == "free" || u.State == "preparation_failed" }

// readHost reads the host, and its units where those matter.
func (f *layoutForm) readHost(r *page.Request) (err error) {
	if f.Host, err = r.API.GetHost(r.Ctx, r.Param("id")); err != nil || !f.again() {
		return err
	}
	for u, err := range r.API.AllComputeUnits(r.Ctx, api.UnitFilter{Host: f.Host.ID}) {
		if err != nil {
			return err
		}
		f.Units = append(f.Units, u)
	}
	return nil
}

func showLayout(r *page.Request) error {
	f := layoutForm{Mode: "count"}
	if err := f.readHost(r); err != nil {
		return err
	}
	f.Version = strconv.FormatInt(f.Host.Version, 10)
	switch {
	case f.again():
		f.fromUnits()
	case f.Host.Layout != nil:
		f.fromLayout(*f.Host.Layout)
	default:
		f.suggest()
	}
	if f.Host.Facts != nil {
		f.preview(r)
	}
	return drawLayout(r, fiber.StatusOK, f)
}

func drawLayout(r *page.Request, status int, f layoutForm) error {
	return r.Show(page.View{Title: "Layout of " + f.Host.Name, Nav: "/hosts", Status: status, Script: "layout.js", Body: layoutPage(f)})
}

// fromUnits fills the form with the free part of the host as it is cut now.
func (f *layoutForm) fromUnits() {
	f.Mode = "sets"
	var sets []string
	for _, u := range f.Units {
		if replaceable(u) {
			sets = append(sets, u.CPUs)
		}
	}
	f.Sets = strings.Join(sets, "\n")
}

// fromLayout fills the form with the layout that is set, as it was asked for.
func (f *layoutForm) fromLayout(l api.Layout) {
	f.Mode, f.SystemCPUs, f.VolumeGroup, f.Devices = "sets", l.SystemCPUs, l.VolumeGroup, l.Devices
	f.SystemMemory = exactSize(l.SystemMemoryBytes)
	var sets []string
	for _, u := range l.Units {
		set := u.CPUs
		if !f.isShare(l, u) {
			set += " = " + exactSize(u.VolumeBytes)
		}
		sets = append(sets, set)
	}
	f.Sets = strings.Join(sets, "\n")
}

// extent is what sizes of volumes are rounded down to, in bytes.
const extent = 4 << 20

// isShare tells whether a unit's volume is what its CPUs give it.
func (f *layoutForm) isShare(l api.Layout, u api.LayoutUnit) bool {
	if f.Host.Facts == nil || l.VolumeSpaceBytes == 0 {
		return true
	}
	cpus := len(f.Host.Facts.CPUs) - len(parseCPUs(l.SystemCPUs))
	share := l.VolumeSpaceBytes / int64(max(cpus, 1)) * int64(u.CPUCount)
	return u.VolumeBytes == share/extent*extent
}

// exactSize writes a size so that it is read as the same number of bytes.
func exactSize(n int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 40, " TiB"}, {1 << 30, " GiB"}, {1 << 20, " MiB"}, {1 << 10, " KiB"}} {
		if n >= unit.bytes && n%unit.bytes == 0 {
			return strconv.FormatInt(n/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// suggest fills the form with something that can be set as it is: units of the
// size of half a node's CPUs, on the only empty disk if there is just one.
func (f *layoutForm) suggest() {
	facts := f.Host.Facts
	if facts == nil {
		return
	}
	each := 1
	if n := len(facts.Nodes); n > 0 {
		each = max(len(facts.CPUs)/n/2, 1)
	}
	f.Count, f.CPUsEach = strconv.Itoa(max((len(facts.CPUs)-1)/each, 1)), strconv.Itoa(each)
	if empty := emptyDisks(facts); len(empty) == 1 {
		f.Devices = empty
	}
}

// emptyDisks are those that can be named in a layout.
func emptyDisks(facts *api.HostFacts) (ids []string) {
	for _, d := range facts.Devices {
		if d.ByID != "" && contents(d) == "" {
			ids = append(ids, d.ByID)
		}
	}
	return ids
}

func (f *layoutForm) preview(r *page.Request) {
	in, wrong := f.request()
	if wrong.Any() {
		f.Wrong = wrong
		return
	}
	l, err := r.API.PreviewLayout(r.Ctx, f.Host.ID, in)
	if onlyDisks(err) && len(in.Devices) == 0 && f.Host.Facts != nil {
		// CPUs and memory can be looked at before disks are chosen.
		in.Devices = emptyDisks(f.Host.Facts)
		f.NoDisks = len(in.Devices) > 0
		if f.NoDisks {
			l, err = r.API.PreviewLayout(r.Ctx, f.Host.ID, in)
		}
	}
	if err != nil {
		problems, ok := page.Problems(err)
		if !ok {
			problems = ui.Problems{Title: "The preview is not available right now.", Detail: "Try again in a moment. Your input is kept."}
		} else {
			problems.Title = "This does not fit."
		}
		f.Wrong = problems
		return
	}
	f.Preview = &l
}

// onlyDisks tells whether nothing but disks is missing.
func onlyDisks(err error) bool {
	p, ok := page.Problems(err)
	for _, f := range p.Fields {
		ok = ok && f.Field == "devices"
	}
	return ok && len(p.Fields) > 0
}

func readLayout(r *page.Request) (layoutForm, error) {
	f := layoutForm{
		Mode: r.Form("mode"), Count: r.Form("count"), CPUsEach: r.Form("cpus_each"), Sets: r.Form("units"),
		SystemCPUs: r.Form("system_cpus"), SystemMemory: r.Form("system_memory_bytes"), VolumeGroup: r.Form("volume_group"),
		Volume: r.Form("volume_bytes"), Devices: r.FormAll("devices"), Version: r.Form("version"),
	}
	return f, f.readHost(r)
}

func previewLayout(r *page.Request) error {
	f, err := readLayout(r)
	if err != nil {
		return err
	}
	f.preview(r)
	if r.Live() {
		return r.Fragment(layoutPreview(f, true))
	}
	return drawLayout(r, fiber.StatusOK, f)
}

func setLayout(r *page.Request) error {
	return takeLayout(r, func(f layoutForm, in api.SetLayout, version int64) error {
		h, err := r.API.SetLayout(r.Ctx, f.Host.ID, in, client.IfMatch(version))
		if err != nil {
			return err
		}
		return r.Go(setupAt(h), "layout-set")
	})
}

func relayout(r *page.Request) error {
	return takeLayout(r, func(f layoutForm, in api.SetLayout, version int64) error {
		if r.Planning() {
			p, _, err := r.API.PlanRelayoutHost(r.Ctx, f.Host.ID, in, client.IfMatch(version))
			return r.GoPlan(p, err)
		}
		_, job, err := r.API.RelayoutHost(r.Ctx, f.Host.ID, in, client.IfMatch(version))
		if err != nil {
			return err
		}
		return r.GoJob(job, hostURL(r), "")
	})
}

// takeLayout sends what was typed; what is refused is shown with it.
func takeLayout(r *page.Request, send func(f layoutForm, in api.SetLayout, version int64) error) error {
	f, err := readLayout(r)
	if err != nil {
		return err
	}
	in, wrong := f.request()
	if wrong.Any() {
		f.Wrong = wrong
		return drawLayout(r, fiber.StatusUnprocessableEntity, f)
	}
	version, _ := strconv.ParseInt(f.Version, 10, 64)
	if err := send(f, in, version); err != nil {
		problems, ok := page.Problems(err)
		if !ok {
			return err
		}
		f.preview(r)
		f.Wrong, f.Version = problems, strconv.FormatInt(f.Host.Version, 10)
		return drawLayout(r, fiber.StatusUnprocessableEntity, f)
	}
	return nil
}

// request turns what was typed into a request.
func (f *layoutForm) request() (in api.SetLayout, wrong ui.Problems) {
	bad := func(field string, err error) {
		if err != nil {
			wrong.Title = "Not accepted. Nothing was changed."
			wrong.Fields = append(wrong.Fields, ui.FieldProblem{Field: field, Message: err.Error()})
		}
	}
	var err error
	in = api.SetLayout{SystemCPUs: f.SystemCPUs, VolumeGroup: f.VolumeGroup, Devices: slices.Clone(f.Devices)}
	in.SystemMemoryBytes, err = page.Size(f.SystemMemory)
	bad("system_memory_bytes", err)
	in.VolumeBytes, err = page.Size(f.Volume)
	bad("volume_bytes", err)
	if f.Mode == "sets" {
		for i, l := range page.Lines(f.Sets) {
			cpus, volume, _ := strings.Cut(l, "=")
			size, err := page.Size(volume)
			bad(fmt.Sprintf("units[%d]", i), err)
			if size == 0 {
				size = in.VolumeBytes
			}
			in.Units = append(in.Units, api.SetUnit{CPUs: strings.ReplaceAll(cpus, " ", ""), VolumeBytes: size})
		}
		if len(in.Units) == 0 {
			bad("units", fmt.Errorf("name the CPUs of at least one unit"))
		}
		return in, wrong
	}
	in.Count, err = page.Number(f.Count)
	bad("count", err)
	in.CPUsEach, err = page.Number(f.CPUsEach)
	bad("cpus_each", err)
	return in, wrong
}

// totals is what a layout gives away, of what there is.
type totals struct {
	CPUs, System, AllCPUs           int
	Memory, SystemMemory, AllMemory int64
	Volumes, Space                  int64
}

func totalsOf(l api.Layout, f *api.HostFacts) totals {
	t := totals{
		System: len(parseCPUs(l.SystemCPUs)), AllCPUs: len(f.CPUs), SystemMemory: l.SystemMemoryBytes, AllMemory: f.MemoryBytes,
		Space: l.VolumeSpaceBytes,
	}
	for _, u := range l.Units {
		t.CPUs += u.CPUCount
		t.Memory += u.MemoryMaxBytes
		t.Volumes += u.VolumeBytes
	}
	return t
}

// share is a part of what a host has, and where it goes.
type share struct {
	What, Units, System, Rest string
	Parts                     []ui.Part
}

func (t totals) shares() []share {
	size := func(n int64) string { return ui.Bytes(max(n, 0)) }
	rest := t.AllCPUs - t.CPUs - t.System
	return []share{
		{
			"CPUs", strconv.Itoa(t.CPUs) + " of " + ui.Count(t.AllCPUs, "CPU"), strconv.Itoa(t.System), strconv.Itoa(rest),
			parts(int64(t.CPUs), int64(t.System), int64(rest)),
		},
		{
			"Memory", size(t.Memory) + " of " + size(t.AllMemory), size(t.SystemMemory), size(t.AllMemory - t.Memory - t.SystemMemory),
			parts(t.Memory, t.SystemMemory, t.AllMemory-t.Memory-t.SystemMemory),
		},
		{"Disk", size(t.Volumes) + " of " + size(t.Space), "", size(t.Space - t.Volumes), parts(t.Volumes, 0, t.Space-t.Volumes)},
	}
}

// parts draws what units, the system and nobody get, in thousandths.
func parts(units, system, nobody int64) []ui.Part {
	all := max(float64(units+system+max(nobody, 0)), 1)
	thousandths := func(n int64) int { return int(float64(max(n, 0)) * 1000 / all) }
	return []ui.Part{
		{Tone: ui.Used, Word: "units", Count: thousandths(units)},
		{Tone: ui.Edit, Word: "the system", Count: thousandths(system)},
		{Tone: ui.Gone, Word: "nobody", Count: thousandths(nobody)},
	}
}

// fixedOwners are those of the CPUs that a new layout leaves where they are.
func (f *layoutForm) fixedOwners() owners {
	o := owners{}
	kept := f.kept()
	if len(kept) > 0 {
		o.give(f.present().SystemCPUs, ui.CPU{Owner: ui.OwnerSystem, Label: "sys", Fixed: true})
	}
	for i, u := range kept {
		o.give(u.CPUs, ui.CPU{Owner: i, Label: shortName(u.Ordinal), Name: u.Name, Fixed: true})
	}
	return o
}

// word is what a unit of the layout is called before it has a name.
func (f *layoutForm) word() string {
	if len(f.kept()) > 0 {
		return "new"
	}
	return "unit"
}

var unitOfRequest = regexp.MustCompile(`units\[(\d{1,4})\]`)

// byLine writes a unit of the request as the line of the form that it stands on.
func byLine(s string) string {
	return unitOfRequest.ReplaceAllStringFunc(s, func(m string) string {
		n, _ := strconv.Atoi(unitOfRequest.FindStringSubmatch(m)[1])
		return "line " + strconv.Itoa(n+1)
	})
}

// problemWhere names, as the page does, the field that a problem is about.
func problemWhere(field string) string {
	if unit := unitOfRequest.FindString(field); unit != "" {
		return ui.Sentence(byLine(unit))
	}
	for prefix, words := range map[string]string{
		"count": "Units", "cpus_each": "CPUs each", "units": "CPU sets", "system_cpus": "CPUs of the system", "system_memory": "Memory of the system",
		"volume_group": "Volume group", "volume_bytes": "Volumes", "devices": "Disks",
	} {
		if strings.HasPrefix(field, prefix) {
			return words
		}
	}
	return field
}
