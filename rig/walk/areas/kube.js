// The pages of Kubernetes clusters, which an owner of the second organization sees: the first has no such workspace.
import assert from "node:assert/strict";
import { ask, session } from "../showcase.js";

const here = "/w/acme/web/apps";

export async function pages({ s }) {
  const token = await session(s, "ada");
  const [cluster] = (await ask({ ...s, token, workspace: "acme/web/apps" }, "/clusters")).items;
  const space = (await ask({ ...s, token, workspace: "acme/web/apps" }, "/cluster-namespaces")).items.find((n) => n.name === "shop");
  const [snapshot] = (await ask({ ...s, token, workspace: "acme/web/apps" }, "/cluster-snapshots")).items;
  return [
    { name: "clusters", route: "/clusters", path: `${here}/clusters`, token },
    { name: "clusters-none", route: "/clusters", path: "/clusters" },
    { name: "cluster-new", route: "/clusters/new", path: `${here}/clusters/new`, token },
    { name: "cluster", route: "/clusters/:id", path: `${here}/clusters/${cluster.id}`, token },
    { name: "cluster-upgrade", route: "/clusters/:id/upgrade", path: `${here}/clusters/${cluster.id}/upgrade`, token },
    { name: "cluster-break-glass", route: "/clusters/:id/break-glass", path: `${here}/clusters/${cluster.id}/break-glass`, token },
    { name: "cluster-namespaces", route: "/cluster-namespaces", path: `${here}/cluster-namespaces`, token },
    { name: "cluster-namespace-new", route: "/cluster-namespaces/new", path: `${here}/cluster-namespaces/new`, token },
    { name: "cluster-namespace", route: "/cluster-namespaces/:id", path: `${here}/cluster-namespaces/${space.id}`, token },
    { name: "cluster-namespace-edit", route: "/cluster-namespaces/:id/edit", path: `${here}/cluster-namespaces/${space.id}/edit`, token },
    { name: "cluster-snapshots", route: "/cluster-snapshots", path: `${here}/cluster-snapshots`, token },
    { name: "cluster-snapshots-none", route: "/cluster-snapshots", path: "/cluster-snapshots" },
    { name: "cluster-snapshot", route: "/cluster-snapshots/:id", path: `${here}/cluster-snapshots/${snapshot.id}`, token },
    { name: "cluster-snapshot-schedule", route: "/clusters/:id/snapshots", path: `${here}/clusters/${cluster.id}/snapshots`, token },
    { name: "kube-versions", route: "/kube-versions", path: `${here}/kube-versions`, token },
  ];
}

export const tasks = {
  // The owner gives somebody a role in the cluster, and takes it away again.
  async kube({ open, s }) {
    const page = await open({ storageState: { cookies: [{ name: "kloigos", value: await session(s, "ada"), domain: "127.0.0.1", path: "/", expires: -1, httpOnly: true, secure: false, sameSite: "Lax" }], origins: [] } });
    await page.goto(`${here}/clusters`);
    await page.getByRole("link", { name: "apps", exact: true }).click();
    await page.getByText("Kubelet stopped posting node status.").waitFor();
    await page.getByLabel("Account").fill("barbara");
    await page.getByLabel("Role", { exact: true }).selectOption("viewer");
    await page.getByRole("button", { name: "Give the role" }).click();
    await page.getByText("The account has a role in the cluster.").waitFor();
    await page.locator("summary", { hasText: "the role of barbara" }).click();
    await page.getByRole("button", { name: "Take away the role of barbara" }).click();
    await page.getByText("The role is taken away.").waitFor();
    assert.equal(await page.getByText("barbara", { exact: true }).count(), 0);
    // Another host is to take the place of the node that is not ready: a plan says what that would do.
    await page.getByLabel("Node that goes", { exact: true }).selectOption("kube-3");
    await page.getByLabel("Host in its place").selectOption("kube-4");
    await page.locator("form", { has: page.getByLabel("Node that goes", { exact: true }) }).getByRole("button", { name: "Create a plan first" }).click();
    await page.waitForURL(/\/plans\//);
    await page.getByText("worker, not ready, v1.36.3").first().waitFor();
  },
};
