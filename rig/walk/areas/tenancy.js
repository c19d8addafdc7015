// The pages of organizations and of what people may do in them, and what a person does there.
import assert from "node:assert/strict";
import { ask } from "../showcase.js";

export async function pages({ s }) {
  const list = async (path) => (await ask(s, path)).items;
  const [here] = (await list("/organizations?limit=50")).filter((o) => o.name === "default");
  const [project] = await list("/projects?limit=1"), [workspace] = await list("/workspaces?limit=1");
  const [role] = (await list("/roles?organization=default")).filter((r) => r.name === "watcher");
  const [rule] = await list("/approval-rules?scope=default");
  const [program] = await list("/service-accounts?organization=default&limit=1");
  const person = (await list("/accounts?kind=person&limit=50")).find((a) => a.name === "grace");
  const disabled = (await list("/accounts?state=disabled&limit=50")).find((a) => a.name === "tim");
  return [
    { name: "organizations", route: "/organizations", path: "/organizations" },
    { name: "organization", route: "/organizations/:id", path: `/organizations/${here.id}` },
    { name: "organization-new", route: "/organizations/new", path: "/organizations/new" },
    { name: "organization-edit", route: "/organizations/:id/edit", path: `/organizations/${here.id}/edit` },
    { name: "organization-ssh-key", route: "/organizations/:id/ssh-key", path: `/organizations/${here.id}/ssh-key` },
    { name: "project", route: "/projects/:id", path: `/projects/${project.id}` },
    { name: "project-new", route: "/projects/new", path: "/projects/new?organization=default" },
    { name: "project-edit", route: "/projects/:id/edit", path: `/projects/${project.id}/edit` },
    { name: "workspace", route: "/workspaces/:id", path: `/workspaces/${workspace.id}` },
    { name: "workspace-new", route: "/workspaces/new", path: "/workspaces/new?project=default%2Fdefault" },
    { name: "workspace-edit", route: "/workspaces/:id/edit", path: `/workspaces/${workspace.id}/edit` },
    { name: "workspace-move", route: "/workspaces/:id/move", path: `/workspaces/${workspace.id}/move` },
    { name: "members", route: "/members", path: "/members?scope=default%2Fdefault%2Fdefault" },
    { name: "member-new", route: "/members/new", path: "/members/new?scope=default" },
    { name: "roles", route: "/roles", path: "/roles?organization=default" },
    { name: "role-new", route: "/roles/new", path: "/roles/new?organization=default" },
    { name: "role", route: "/roles/:id", path: `/roles/${role.id}?organization=default` },
    { name: "service-account", route: "/service-accounts/:id", path: `/service-accounts/${program.id}` },
    { name: "service-accounts", route: "/service-accounts", path: "/service-accounts?organization=default" },
    { name: "service-account-new", route: "/service-accounts/new", path: "/service-accounts/new?organization=default" },
    { name: "approval-rules", route: "/approval-rules", path: "/approval-rules?scope=default" },
    { name: "approval-rule-new", route: "/approval-rules/new", path: "/approval-rules/new?scope=default" },
    { name: "approval-rule", route: "/approval-rules/:id", path: `/approval-rules/${rule.id}` },
    { name: "quotas", route: "/quotas", path: "/quotas?scope=default%2Fdefault%2Fdefault" },
    { name: "accounts", route: "/accounts", path: "/accounts" },
    { name: "account", route: "/accounts/:id", path: `/accounts/${person.id}` },
    { name: "account-disabled", route: "/accounts/:id", path: `/accounts/${disabled.id}` },
    { name: "account-new", route: "/accounts/new", path: "/accounts/new" },
    { name: "account-edit", route: "/accounts/:id/edit", path: `/accounts/${person.id}/edit` },
    { name: "password", route: "/password", path: "/password" },
    { name: "set-password", route: "/set-password", path: "/set-password", bare: true },
    { name: "events-organization", route: "/events", path: "/events?of=organization" },
    { name: "events-installation", route: "/events", path: "/events?of=installation" },
  ];
}

// as opens a browser for somebody else of the showcase; everybody has the same password.
async function as(open, s, account, more = {}) {
  const page = await open({ storageState: undefined, ...more });
  await page.goto("/login");
  await page.getByLabel("Account").fill(account);
  await page.getByLabel("Password").fill(s.password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  return page;
}

export const tasks = {
  // The owner of the second organization chooses a workspace, gives a role and takes it away, renames and is refused a deletion.
  async tenancy({ open, s }) {
    const page = await as(open, s, "ada");
    const says = (text) => page.getByText(text).first().waitFor();
    const press = (name) => page.getByRole("button", { name }).first().click();
    await page.waitForURL("**/w/acme/**");
    await page.locator(".switcher summary").click();
    await page.locator(".switcher").getByRole("link", { name: "acme/web/test" }).click();
    await page.waitForURL("**/w/acme/web/test/");
    await page.goto("/hosts");
    await page.waitForURL("**/w/acme/web/test/hosts");
    assert.equal(await page.getByRole("link", { name: "System" }).count(), 0);
    await page.goto("/w/default/default/default/hosts");
    const text = async () => (await page.locator("main").innerText()).replace(/^Request .*$/m, "");
    const hidden = await text();
    await page.goto("/w/nothing/is/here/hosts");
    assert.equal(await text(), hidden);
    await page.goto("/members?scope=acme%2Fweb%2Ftest");
    await page.getByRole("link", { name: "Give a role" }).click();
    await page.getByLabel("Account").fill("ken");
    await page.getByLabel("Auditor").check();
    await press("Give");
    await says("The role is given.");
    await page.locator("summary", { hasText: "auditor of ken" }).click();
    await page.getByRole("button", { name: "Take away auditor of ken" }).click();
    await says("The role is taken away.");
    await page.goto("/organizations");
    await page.getByRole("link", { name: "acme", exact: true }).click();
    await page.getByRole("link", { name: "web", exact: true }).click();
    await page.getByText("Delete …").click();
    await page.getByLabel("Type its name").last().fill("web");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await says("still has");
    await page.getByRole("link", { name: "Rename" }).click();
    await page.locator("main").getByLabel("Name").fill("site");
    await press("Rename");
    await says("It is renamed.");
    await page.waitForURL("**/w/acme/site/test/projects/*");
  },

  // A viewer sees one workspace: no switcher, and no button that would be refused.
  async viewer({ open, s }) {
    const page = await as(open, s, "linus");
    assert.equal(await page.locator(".switcher").count(), 0);
    assert.ok(!page.url().includes("/w/"), page.url());
    for (const [path, head] of [["/hosts", "Hosts"], ["/allocations", "Allocations"], ["/channels", "Channels"], ["/address-pool", "Address pool"]]) {
      await page.goto(path);
      await page.getByRole("heading", { level: 1, name: head }).waitFor();
      for (const name of ["Register a host", "Allocate a unit", "Add a channel", "Add"]) {
        assert.equal(await page.locator("main").getByRole("button", { name, exact: true }).count() + await page.locator("main").getByRole("link", { name, exact: true }).count(), 0, `${path}: ${name}`);
      }
    }
    await page.goto("/hosts");
    await page.locator("a.name").first().click();
    await page.getByRole("heading", { name: "Actions" }).waitFor();
    assert.equal(await page.locator(".ops li:not(.op-not)").count(), 0, "a viewer is offered an action");
    await page.goto("/system");
    await page.getByRole("heading", { name: "Not allowed" }).waitFor();
  },

  // A new person: the operator makes the account, whose link sets a password once, without scripts too.
  async person({ open, s }) {
    const page = await open();
    await page.goto("/accounts/new");
    await page.locator("main").getByLabel("Name").fill("walker");
    await page.getByRole("button", { name: "Create" }).click();
    const link = await page.locator(".secret code").innerText();
    const other = await open({ storageState: undefined });
    await other.goto(link);
    assert.ok(!other.url().includes("#"), "the secret stays in the address");
    await other.getByLabel("Password", { exact: false }).first().fill("a long walk on the beach");
    await other.getByLabel("The same again").fill("a long walk on the beach");
    await other.getByRole("button", { name: "Set it" }).click();
    await other.getByText("Log in as").waitFor();
    await other.goto("about:blank"); // another fragment alone loads nothing
    await other.goto(link);
    await other.getByLabel("Password", { exact: false }).first().fill("a long walk on the beach");
    await other.getByLabel("The same again").fill("a long walk on the beach");
    await other.getByRole("button", { name: "Set it" }).click();
    await other.getByText("This link was used").first().waitFor();
  },
};
