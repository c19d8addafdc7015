// The pages of management clusters and of hosted control planes. The management cluster that is added here answers nobody.
import { readFile } from "node:fs/promises";
import { ask, session } from "../showcase.js";

const here = "/w/acme/web/apps";

// management adds a management cluster with the kubeconfig of the command line's script.
async function management(s) {
  const script = await readFile(new URL("../../../cli/internal/app/testdata/script/hosting.txtar", import.meta.url), "utf8");
  const answer = await fetch(`${s.api}/api/v1/management-clusters`, {
    method: "POST", headers: { Authorization: `Bearer ${s.token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ name: "mgmt-1", pool: "shown", kubeconfig: script.split("-- public.kubeconfig --\n")[1], service_type: "node_port", address: "192.0.2.80", active: false }),
  });
  if (!answer.ok) throw new Error(`POST /management-clusters: ${answer.status} ${await answer.text()}`);
  return (await answer.json()).id;
}

export async function pages({ s }) {
  const token = await session(s, "ada");
  const added = await management(s);
  const planes = (await ask({ ...s, token, workspace: "acme/web/apps" }, "/hosted-control-planes")).items;
  return [
    { name: "hosted-control-planes", route: "/hosted-control-planes", path: `${here}/hosted-control-planes`, token },
    { name: "hosted-control-plane-new", route: "/hosted-control-planes/new", path: `${here}/hosted-control-planes/new`, token },
    ...planes.map((p) => ({ name: "hosted-control-plane", route: "/hosted-control-planes/:id", path: `${here}/hosted-control-planes/${p.id}`, token })),
    { name: "hosted-control-plane-none", route: "/hosted-control-planes/:id", path: `${here}/hosted-control-planes/none`, token, status: 404 },
    { name: "management-clusters", route: "/management-clusters", path: "/management-clusters" },
    { name: "management-cluster-new", route: "/management-clusters/new", path: "/management-clusters/new" },
    { name: "management-cluster", route: "/management-clusters/:id", path: `/management-clusters/${added}` },
    { name: "management-cluster-edit", route: "/management-clusters/:id/edit", path: `/management-clusters/${added}/edit` },
  ];
}

export const tasks = {};
