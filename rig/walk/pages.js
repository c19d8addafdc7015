// The pages that are walked, each with the route that it belongs to.
import { ask } from "./showcase.js";
import { areas } from "./areas.js";

// pages returns {name, route, path} of each, and where it is so: status, another than 200;
// bare, without a login; token, with another one's session; until, what scripts bring; settle, how many ms they take for the rest.
export async function pages(s, made) {
  const first = async (path, fits = () => true) => {
    const found = (await ask(s, path)).items.find(fits);
    if (!found) throw new Error(`the showcase has nothing of ${path}`);
    return found;
  };
  const host = async (state) => (await first(`/hosts?limit=1&state=${state}`)).id;
  const unit = async (state) => (await first(`/compute-units?limit=1&state=${state}`)).id;
  const allocation = async (state) => (await first(`/allocations?limit=1&state=${state}`)).id;
  const job = async (state) => (await first(`/jobs?limit=100&state=${state}`, (j) => j.playbook)).id;
  const plan = async (state) => (await first(`/plans?limit=1&state=${state}`)).id;
  const failed = s["failed job"].split("/").pop(), long = s["long job"].split("/").pop(), running = s["running job"].split("/").pop();
  const ready = await host("ready"), version = "/playbooks/host_initialize/versions";
  const ofAreas = await Promise.all(areas.map((a) => a.pages({ first, s })));
  return [
    { name: "login", route: "/login", path: "/login?next=%2Fhosts", bare: true },
    { name: "overview", route: "/", path: "/" },
    { name: "hosts", route: "/hosts", path: "/hosts" },
    { name: "hosts-filtered", route: "/hosts", path: "/hosts?state=ready&zone=fra1&sort=-name&col=labels&col=units&col=system&col=seen" },
    { name: "hosts-none", route: "/hosts", path: "/hosts?search=nothing-is-called-so" },
    { name: "host-new", route: "/hosts/new", path: "/hosts/new" },
    { name: "host", route: "/hosts/:id", path: `/hosts/${ready}` },
    { name: "host-edit", route: "/hosts/:id/edit", path: `/hosts/${ready}/edit` },
    { name: "host-key", route: "/hosts/:id", path: `/hosts/${await host("awaiting_host_key")}` },
    { name: "host-failed", route: "/hosts/:id", path: `/hosts/${await host("init_failed")}` },
    { name: "host-lost", route: "/hosts/:id", path: `/hosts/${await host("lost")}` },
    { name: "host-setup-key", route: "/hosts/:id/setup", path: `/hosts/${await host("awaiting_host_key")}/setup` },
    { name: "host-setup-layout", route: "/hosts/:id/setup", path: `/hosts/${await host("probed")}/setup` },
    { name: "host-setup-ready", route: "/hosts/:id/setup", path: `/hosts/${ready}/setup` },
    { name: "layout-first", route: "/hosts/:id/layout", path: `/hosts/${await host("probed")}/layout` },
    { name: "layout-anew", route: "/hosts/:id/layout", path: `/hosts/${ready}/layout` },
    { name: "units", route: "/compute-units", path: "/compute-units" },
    { name: "unit-free", route: "/compute-units/:id", path: `/compute-units/${await unit("free")}` },
    { name: "unit-allocated", route: "/compute-units/:id", path: `/compute-units/${await unit("allocated")}` },
    { name: "unit-failed", route: "/compute-units/:id", path: `/compute-units/${await unit("preparation_failed")}` },
    { name: "allocations", route: "/allocations", path: "/allocations" },
    { name: "allocation-new", route: "/allocations/new", path: "/allocations/new" },
    { name: "allocation", route: "/allocations/:id", path: `/allocations/${await allocation("allocated")}` },
    { name: "allocation-failed", route: "/allocations/:id", path: `/allocations/${await allocation("allocation_failed")}` },
    { name: "jobs", route: "/jobs", path: "/jobs" },
    { name: "job-failed", route: "/jobs/:id", path: `/jobs/${failed}`, until: "#outline table", settle: 1200 },
    { name: "job-long", route: "/jobs/:id", path: `/jobs/${long}`, until: "#outline table", settle: 1200 },
    { name: "job-long-tasks", route: "/jobs/:id", path: `/jobs/${long}?view=tasks`, settle: 1200 },
    { name: "job-long-found", route: "/jobs/:id", path: `/jobs/${long}?q=volume&show=failed`, until: "#outline table", settle: 1200 },
    { name: "job-running", route: "/jobs/:id", path: `/jobs/${running}`, until: "#outline table", settle: 1500 },
    { name: "job-queued", route: "/jobs/:id", path: `/jobs/${await job("queued")}` },
    { name: "job-succeeded", route: "/jobs/:id", path: `/jobs/${await job("succeeded")}` },
    { name: "job-several", route: "/jobs/:id", path: `/jobs/${(await first("/jobs?limit=1&kind=hosts_probe")).id}`, until: "#outline table", settle: 1200 },
    { name: "plans", route: "/plans", path: "/plans" },
    { name: "plan", route: "/plans/:id", path: `/plans/${await plan("ready")}` },
    { name: "plan-applied", route: "/plans/:id", path: `/plans/${await plan("applied")}` },
    { name: "plan-checking", route: "/plans/:id", path: made.plan },
    { name: "plan-failed", route: "/plans/:id", path: `/plans/${await plan("failed")}` },
    { name: "playbooks", route: "/playbooks", path: "/playbooks" },
    { name: "playbook", route: "/playbooks/:name", path: "/playbooks/host_initialize" },
    { name: "version", route: "/playbooks/:name/versions/:version", path: `${version}/1` },
    { name: "version-diff", route: "/playbooks/:name/versions/:version/diff", path: `${version}/2/diff?against=1` },
    { name: "version-edit", route: "/playbooks/:name/versions/:version/edit", path: `${version}/2/edit?path=playbook.yml`, settle: 500 },
    { name: "version-file", route: "/playbooks/:name/versions/:version/file", path: `${version}/1/file?path=playbook.yml` },
    { name: "addresses", route: "/address-pool", path: "/address-pool" },
    { name: "events", route: "/events", path: "/events" },
    { name: "policies", route: "/policies", path: "/policies" },
    { name: "tokens", route: "/tokens", path: "/tokens" },
    { name: "system", route: "/system", path: "/system" },
    { name: "go", route: "/web/go", path: "/web/go?q=fra1" },
    { name: "not-found", route: "", path: "/hosts/00000000-0000-4000-8000-00000000dead", status: 404 },
    { name: "no-page", route: "", path: "/nowhere", status: 404 },
    ...ofAreas.flat(),
  ];
}

// parts are the routes that answer with no page: parts of one for scripts, and what is downloaded.
export function parts(s, list) {
  const long = new URL(s["long job"]).pathname, running = new URL(s["running job"]).pathname;
  return [
    { route: "/web/healthz", path: "/web/healthz", type: "text/plain", says: "ok" },
    { route: "/web/version", path: "/web/version", type: "application/json", says: "version" },
    { route: "/allocations/:id/use", path: `${list.find((l) => l.name === "allocation").path}/use`, type: "text/html", says: "id=\"use\"" },
    { route: "/jobs/:id/lines", path: `${long}/lines?after=49000`, type: "text/html", says: "<li" },
    { route: "/jobs/:id/outline", path: `${long}/outline`, type: "text/html", says: "class=\"matrix\"" },
    { route: "/jobs/:id/log.txt", path: `${new URL(s["failed job"]).pathname}/log.txt`, type: "text/plain", says: "volume" },
    { route: "/jobs/:id/stream", path: `${running}/stream`, type: "text/event-stream", says: "data:", stream: true },
    { route: "/events/export", path: "/events/export?format=csv", type: "text/csv", says: "action" },
    { route: "/usage/export", path: "/usage/export?scope=default", type: "text/csv", says: "day" },
    { route: "/statements/export", path: "/statements/export?organization=default&format=json", type: "application/json", says: "totals" },
    { route: "/statements/export", path: "/statements/export?organization=default", type: "text/csv", says: "resource" },
    { route: "/playbooks/:name/versions/:version/download", path: "/playbooks/host_probe/versions/1/download", type: "", says: "" },
  ];
}
