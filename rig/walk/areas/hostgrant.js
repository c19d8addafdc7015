// The pages of hosts that several workspaces use, and what a person does there.
export async function pages({ first }) {
  const grant = (await first("/host-grants?limit=50", (g) => g.units === 2)).id;
  return [
    { name: "shared-hosts", route: "/shared-hosts", path: "/shared-hosts" },
    { name: "host-grants", route: "/host-grants", path: "/host-grants" },
    { name: "host-grant", route: "/host-grants/:id", path: `/host-grants/${grant}` },
    { name: "host-grant-new", route: "/host-grants/new", path: "/host-grants/new" },
    { name: "host-grant-edit", route: "/host-grants/:id/edit", path: `/host-grants/${grant}/edit` },
  ];
}

export const tasks = {
  // A scope that nobody sees is refused beside its field; a grant can be narrowed and revoked.
  async hostgrant({ open }) {
    const page = await open();
    await page.goto("/host-grants");
    await page.getByRole("link", { name: "Grant a host" }).first().click();
    await page.locator("main").getByLabel("Host").fill("fra1-005");
    await page.getByLabel("Who may use it").fill("nobody");
    await page.getByRole("button", { name: "Grant", exact: true }).click();
    await page.getByText("Nothing that you see has this name or id.").waitFor();
  },
};
