package kube

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

// upgradeView is the upgrades of a cluster, and its maintenance window.
type upgradeView struct {
	Cluster  api.Cluster
	Upgrades api.ClusterUpgrades
	Form     ui.Form // of an upgrade
	Window   ui.Form
	Key      string
}

func showUpgrade(r *page.Request) error { return drawUpgrade(r, fiber.StatusOK, upgradeView{}) }

func drawUpgrade(r *page.Request, status int, v upgradeView) (err error) {
	if v.Cluster, err = r.API.GetCluster(r.Ctx, r.Param("id")); err != nil {
		return err
	}
	if v.Upgrades, err = r.API.ClusterUpgrades(r.Ctx, v.Cluster.ID); err != nil {
		return err
	}
	v.Key = page.NewKey()
	if v.Form.Values == nil {
		v.Form.Values = url.Values{"parallel": {"1"}}
	}
	if v.Window.Values == nil {
		v.Window.Values = url.Values{}
		if w := v.Cluster.MaintenanceWindow; w != nil {
			v.Window.Values = url.Values{"days": {strings.Join(w.Days, " ")}, "from": {w.From}, "to": {w.To}}
		}
	}
	return r.Show(page.View{Title: "Upgrade " + v.Cluster.Name, Nav: "/clusters", Status: status, Body: upgradePage(v)})
}

// targets are the versions that can be asked for now.
func (v upgradeView) targets() (all []ui.Choice) {
	for _, p := range v.Upgrades.Plans {
		if p.Allowed || v.Upgrades.WindowOpensAt != nil {
			all = append(all, ui.Choice{Value: p.To, Label: p.To})
		}
	}
	return all
}

func upgradeCluster(r *page.Request) error {
	in := api.UpgradeCluster{To: r.Form("to"), Now: r.Form("now") != ""}
	values := url.Values{"to": {in.To}, "parallel": {r.Form("parallel")}}
	parallel, err := strconv.Atoi(r.Form("parallel"))
	if err != nil {
		return drawUpgrade(r, fiber.StatusUnprocessableEntity, upgradeView{Form: ui.Form{Values: values, Wrong: ui.Problems{Fields: []ui.FieldProblem{{Field: "parallel", Message: "Use 1 to 10."}}}}})
	}
	in.Parallel = parallel
	start := func() (api.Cluster, string, error) { return r.API.UpgradeCluster(r.Ctx, r.Param("id"), in, r.Once()) }
	return page.PlanOr(r, "upgrade-cluster", r.Param("id"), in, start, "/clusters/"+r.Param("id"), func(status int, wrong ui.Problems) error {
		return drawUpgrade(r, status, upgradeView{Form: ui.Form{Values: values, Wrong: wrong}})
	})
}

func setWindow(r *page.Request) error {
	in := api.SetClusterWindow{Days: strings.FieldsFunc(r.Form("days"), func(c rune) bool { return c == ' ' || c == ',' }), From: r.Form("from"), To: r.Form("to")}
	_, err := r.API.SetClusterWindow(r.Ctx, r.Param("id"), in, r.IfSeen())
	if err == nil {
		return r.Go("/clusters/"+r.Param("id")+"/upgrade", "window-set")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		return drawUpgrade(r, status, upgradeView{Window: ui.Form{Values: url.Values{"days": {r.Form("days")}, "from": {in.From}, "to": {in.To}}, Wrong: wrong}})
	})
}

// windowText says when the window is open.
func windowText(w *api.MaintenanceWindow) string {
	if w == nil {
		return "always"
	}
	text := "every day"
	if len(w.Days) > 0 {
		text = strings.Join(w.Days, ", ")
	}
	if w.From != "" {
		text += " from " + w.From + " to " + w.To + " UTC"
	}
	return text
}

func renewCertificates(r *page.Request) error {
	start := func() (api.Cluster, string, error) {
		return r.API.RenewClusterCertificates(r.Ctx, r.Param("id"), r.Once())
	}
	return page.PlanOr(r, "renew-cluster-certificates", r.Param("id"), nil, start, "/clusters/"+r.Param("id"), nil)
}
