// The pages of DNS zones that several workspaces use, and what a person does there.
export async function pages({ first }) {
  const grant = (await first("/dns-zone-grants?limit=50", (g) => !g.whole_zone)).id;
  const shared = (await first("/shared-dns-zones?limit=50", () => true)).id;
  return [
    { name: "shared-dns-zones", route: "/shared-dns-zones", path: "/shared-dns-zones" },
    { name: "shared-dns-zone", route: "/shared-dns-zones/:id", path: `/shared-dns-zones/${shared}` },
    { name: "dns-zone-grants", route: "/dns-zone-grants", path: "/dns-zone-grants" },
    { name: "dns-zone-grant", route: "/dns-zone-grants/:id", path: `/dns-zone-grants/${grant}` },
    { name: "dns-zone-grant-new", route: "/dns-zone-grants/new", path: "/dns-zone-grants/new" },
    { name: "dns-zone-grant-edit", route: "/dns-zone-grants/:id/edit", path: `/dns-zone-grants/${grant}/edit` },
  ];
}

export const tasks = {
  // A scope that nobody sees is refused beside its field.
  async dnszonegrant({ open }) {
    const page = await open();
    await page.goto("/dns-zone-grants");
    await page.getByRole("link", { name: "Grant a zone" }).first().click();
    await page.locator("main").getByLabel("Zone").fill("kloigos.example");
    await page.getByLabel("Who may use it").fill("nobody");
    await page.getByRole("button", { name: "Grant", exact: true }).click();
    await page.getByText("Nothing that you see has this name or id.").waitFor();
  },
};
