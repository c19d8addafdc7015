// The pages of networks, and what a person does there.
import assert from "node:assert/strict";

export async function pages({ first }) {
  const network = async (name) => `/networks/${(await first("/networks?limit=50", (n) => n.name === name)).id}`;
  return [
    { name: "networks", route: "/networks", path: "/networks" },
    { name: "network", route: "/networks/:id", path: await network("default") },
    { name: "network-unused", route: "/networks/:id", path: await network("storage") },
    { name: "network-new", route: "/networks/new", path: "/networks/new" },
    { name: "network-edit", route: "/networks/:id/edit", path: `${await network("default")}/edit` },
  ];
}

export const tasks = {
  // A range that an address of the pool lies outside of is refused beside its field, and a network that nothing uses can go.
  async network({ open }) {
    const page = await open();
    await page.goto("/networks");
    await page.getByRole("link", { name: "default", exact: true }).click();
    await page.getByRole("link", { name: "Edit" }).click();
    await page.getByLabel("Range").fill("192.0.2.0/24");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("can't be handed out of this range").waitFor();
    await page.goto("/networks/new");
    await page.locator("main").getByLabel("Name").fill("backup");
    await page.getByLabel("Range").fill("192.0.2.0/24");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByText("The network is added.").waitFor();
    await page.getByText("Delete …").click();
    await page.getByLabel("Type the name").fill("backup");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("The network is deleted.").waitFor();
    assert.equal(await page.getByRole("link", { name: "backup", exact: true }).count(), 0);
  },
};
