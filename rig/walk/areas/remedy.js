// The pages of remedies, and what a person does there.
import assert from "node:assert/strict";

export async function pages({ first }) {
  const remedy = async (name) => `/remedies/${(await first("/remedies?limit=50", (r) => r.name === name)).id}`;
  return [
    { name: "remedies", route: "/remedies", path: "/remedies" },
    { name: "remedy", route: "/remedies/:id", path: await remedy("probe-again") },
    { name: "remedy-new", route: "/remedies/new", path: "/remedies/new" },
    { name: "remedy-edit", route: "/remedies/:id/edit", path: `${await remedy("sync-again")}/edit` },
  ];
}

export const tasks = {
  // A job that the objects don't have is refused beside its field.
  async remedy({ open }) {
    const page = await open();
    await page.goto("/remedies/new");
    await page.locator("main").getByLabel("Name").fill("walked");
    await page.getByLabel("Condition").fill("healthy");
    await page.getByLabel("Job", { exact: true }).selectOption("zone_sync");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("Use one of: host initialize").waitFor();
    await page.getByLabel("Job", { exact: true }).selectOption("host_probe");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("The remedy is added.").waitFor();
    await page.getByText("It has asked for no job yet.").waitFor();
    await page.getByText("Delete …").click();
    await page.getByLabel("Type the name").fill("walked");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("The remedy is deleted.").waitFor();
    assert.equal(await page.getByRole("link", { name: "walked", exact: true }).count(), 0);
  },
};
