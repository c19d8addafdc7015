// The pages of drift, and what a person does there.
import assert from "node:assert/strict";

export async function pages({ first }) {
  const host = await first("/drifts?state=open", (d) => !d.unit_id), unit = await first("/drifts?state=given_up");
  return [
    { name: "drift", route: "/drift", path: "/drift" },
    { name: "drift-ended", route: "/drift", path: "/drift?state=ended" },
    { name: "drift-none", route: "/drift", path: "/drift?promise=nothing-is-called-so" },
    { name: "drift-accept", route: "/drift/:id/accept", path: `/drift/${unit.id}/accept` },
    { name: "drift-modes", route: "/drift-modes", path: "/drift-modes" },
    { name: "drift-mode-set", route: "/drift-modes/set", path: `/drift-modes/set?host=${host.host_id}` },
    { name: "host-drifted", route: "/hosts/:id", path: `/hosts/${host.host_id}` },
    { name: "unit-drifted", route: "/compute-units/:id", path: `/compute-units/${unit.unit_id}` },
  ];
}

export const tasks = {
  // From the page of a unit to the drift of its host, and to the job that repairs it, without scripts.
  async "repair drift"({ open }) {
    const page = await open({ javaScriptEnabled: false });
    await page.goto("/drift?state=given_up");
    const row = page.locator("main tbody tr").first();
    const unit = await row.locator("a.name").innerText(), promise = (await row.locator("td").nth(1).innerText()).trim();
    await row.locator("a.name").click();
    await page.getByText(`${unit} is not as promised: ${promise}`).waitFor();
    await page.getByRole("link", { name: "Drift of this host" }).first().click();
    await page.waitForURL("**/drift?host=*");
    await page.getByRole("button", { name: `Repair ${promise} of ${unit}` }).click();
    await page.waitForURL(/\/jobs\/[0-9a-f-]{36}/);
    await page.getByText("A job puts it right.").waitFor();
    await page.goto("/drift?state=repairing");
    assert.equal(await page.getByRole("button", { name: `Repair ${promise} of ${unit}` }).count(), 0);
    await page.locator("main tbody tr", { hasText: unit }).getByRole("link", { name: "Last repair" }).waitFor();
  },
};
