// The pages of notification channels, and what a person does there.
import assert from "node:assert/strict";

export async function pages({ first }) {
  const channel = async (type) => `/channels/${(await first(`/channels?limit=1&type=${type}`)).id}`;
  return [
    { name: "channels", route: "/channels", path: "/channels" },
    { name: "channel-webhook", route: "/channels/:id", path: await channel("webhook") },
    { name: "channel-email", route: "/channels/:id", path: await channel("email") },
    { name: "channel-edit", route: "/channels/:id/edit", path: `${await channel("email")}/edit` },
    { name: "channel-new", route: "/channels/new", path: "/channels/new" },
    { name: "channel-new-email", route: "/channels/new", path: "/channels/new?type=email" },
  ];
}

export const tasks = {
  // A webhook with a secret, without scripts: refused once, then added, changed, tested and deleted.
  async channel({ open }) {
    const page = await open({ javaScriptEnabled: false });
    const says = (text) => page.getByText(text).first().waitFor();
    const press = (name) => page.getByRole("button", { name }).first().click();
    await page.goto("/channels/new");
    await page.getByLabel("Name").fill("walk");
    await page.getByLabel("URL").fill("http://169.254.169.254/");
    await page.getByLabel("Secret").fill("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
    await press("Add");
    await page.locator("#url-problem").waitFor();
    assert.equal(await page.getByLabel("Secret").inputValue(), "");
    await page.getByLabel("URL").fill("https://hooks.walk.example/");
    await page.getByLabel("Secret").fill("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
    await press("Add");
    await says("The channel is added.");
    assert.ok(!(await page.content()).includes("MDEy"), "the page shows the secret");
    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await page.getByLabel("Subscribes").fill("dns_zone");
    await press("Save");
    await says("The channel is changed.");
    await press("Send a test");
    await page.waitForURL("**/jobs/*");
    await says("Waiting for a worker.");
  },
};
