// The pages of networks that several workspaces use, and what a person does there.
export async function pages({ first }) {
  const grant = (await first("/network-grants?limit=50", (g) => g.addresses === 20)).id;
  return [
    { name: "shared-networks", route: "/shared-networks", path: "/shared-networks" },
    { name: "network-grants", route: "/network-grants", path: "/network-grants" },
    { name: "network-grant", route: "/network-grants/:id", path: `/network-grants/${grant}` },
    { name: "network-grant-new", route: "/network-grants/new", path: "/network-grants/new" },
    { name: "network-grant-edit", route: "/network-grants/:id/edit", path: `/network-grants/${grant}/edit` },
  ];
}

export const tasks = {
  // A scope that nobody sees is refused beside its field; a grant can be narrowed and revoked.
  async networkgrant({ open }) {
    const page = await open();
    await page.goto("/network-grants");
    await page.getByRole("link", { name: "Grant a network" }).first().click();
    await page.locator("main").getByLabel("Network").fill("storage");
    await page.getByLabel("Whose hosts may carry it").fill("nobody");
    await page.getByRole("button", { name: "Grant", exact: true }).click();
    await page.getByText("Nothing that you see has this name or id.").waitFor();
  },
};
