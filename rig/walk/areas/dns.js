// The pages of DNS zones and record sets, and what a person does there.
import assert from "node:assert/strict";
import { ask } from "../showcase.js";

const heading = (page) => page.locator("h1").textContent().then((t) => t.trim());

export async function pages({ first }) {
  const zone = async (state) => `/dns-zones/${(await first(`/dns-zones?limit=1&state=${state}`)).id}`;
  const set = async (fits) => `/dns-record-sets/${(await first("/dns-record-sets?limit=200&zone=kloigos.example", fits)).id}`;
  return [
    { name: "dns-zones", route: "/dns-zones", path: "/dns-zones" },
    { name: "dns-zones-none", route: "/dns-zones", path: "/dns-zones?state=failed&mode=upsert_only" },
    { name: "dns-zone-new", route: "/dns-zones/new", path: "/dns-zones/new" },
    { name: "dns-zone-live", route: "/dns-zones/:id", path: await zone("live") },
    { name: "dns-zone-held", route: "/dns-zones/:id", path: await zone("held") },
    { name: "dns-zone-failed", route: "/dns-zones/:id", path: await zone("failed") },
    { name: "dns-zone-pending", route: "/dns-zones/:id", path: await zone("pending") },
    { name: "dns-zone-edit", route: "/dns-zones/:id/edit", path: `${await zone("live")}/edit` },
    { name: "dns-foreign-records", route: "/dns-foreign-records", path: "/dns-foreign-records" },
    { name: "dns-record-sets", route: "/dns-record-sets", path: "/dns-record-sets" },
    { name: "dns-record-set-new", route: "/dns-record-sets/new", path: "/dns-record-sets/new?zone=kloigos.example&type=MX" },
    { name: "dns-record-set-live", route: "/dns-record-sets/:id", path: await set((s) => s.state === "live" && s.check.everywhere) },
    { name: "dns-record-set-differs", route: "/dns-record-sets/:id", path: await set((s) => s.check && !s.check.everywhere) },
    { name: "dns-record-set-failed", route: "/dns-record-sets/:id", path: await set((s) => s.outcome === "adoption_needed") },
    { name: "dns-record-set-edit", route: "/dns-record-sets/:id/edit", path: `${await set((s) => s.type === "TXT")}/edit` },
    { name: "dns-job", route: "/jobs/:id", path: `/jobs/${(await first("/jobs?limit=1&kind=zone_sync&state=failed")).id}`, until: "#outline .muted", settle: 1200 },
  ];
}

export const tasks = {
  // A zone with its first record set, without scripts; then what differs, a plan, a foreign record and a pause.
  async dns({ s, open }) {
    const page = await open({ javaScriptEnabled: false });
    const says = (text) => page.getByText(text).first().waitFor();
    const press = (name) => page.getByRole("button", { name }).first().click();
    await page.goto("/dns-zones");
    await page.getByRole("link", { name: "Add a zone" }).first().click();
    await page.getByRole("textbox", { name: "Zone" }).fill("walk.example");
    await page.getByLabel("Name server that takes updates").fill("not a server");
    await page.getByLabel("Name of the key").fill("walk-key");
    await page.getByLabel("Secret of the key").fill("c2VjcmV0IG9mIHRoZSB3YWxr");
    await press("Add and synchronize");
    await page.locator("#server-problem").waitFor();
    assert.equal(await page.getByRole("textbox", { name: "Zone" }).inputValue(), "walk.example");
    assert.equal(await page.getByLabel("Secret of the key").inputValue(), "");
    await page.getByLabel("Name server that takes updates").fill("ns1.walk.example");
    await page.getByLabel("Secret of the key").fill("c2VjcmV0IG9mIHRoZSB3YWxr");
    await press("Add and synchronize");
    await says("The zone is added.");
    assert.equal(await heading(page), "walk.example");
    assert.ok(!(await page.content()).includes("c2VjcmV0"), "the page shows the secret");

    await page.getByRole("link", { name: "Add a record set" }).click();
    await page.getByRole("link", { name: "MX", exact: true }).click();
    assert.equal(await page.getByLabel("Zone").inputValue(), "walk.example");
    await page.getByLabel("Name", { exact: false }).first().fill("@");
    await page.getByLabel("Preference and mail server").fill("mx.walk.example");
    await press("Add");
    await page.locator("#values-problem").waitFor();
    await page.getByLabel("Preference and mail server").fill("10 mx.walk.example");
    await press("Add");
    await says("The record set is added.");
    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await page.getByLabel("TTL").fill("600");
    await press("Save");
    await says("The record set is changed.");
    await says("10 min");
    await press("Check now");
    await page.waitForURL("**/jobs/*");
    await says("Waiting for a worker.");
    await page.getByRole("link", { name: "walk.example MX" }).first().click();

    await page.goto("/dns-zones?state=held");
    await page.locator("td a.name").first().click();
    await says("17 of 20 record sets");
    await press("Confirm this plan");
    await page.waitForURL("**/jobs/*");
    assert.match(await heading(page), /^Synchronize zone apps\.kloigos\.example/);

    const { items } = await ask(s, "/dns-foreign-records?limit=50&zone=kloigos.example");
    const free = items.find((f) => f.type === "A" && !f.message);
    await page.goto("/dns-foreign-records?zone=kloigos.example");
    await page.getByRole("button", { name: `Adopt ${free.name} A` }).click();
    await says("The record set is adopted.");

    await page.goto("/dns-zones?state=live");
    await page.locator("td a.name").first().click();
    await page.locator("#conditions summary").click();
    await page.getByLabel("Reason, shown to everyone").fill("the name server moves");
    await press("Pause for this object");
    await says("All policies are paused for this object by");
    await says("the name server moves");
    await press("Resume");
    await says("Policies look at this object again.");
    await press("Reconcile now: dns zone");
    await says("The policy is due for this object.");
  },
};
