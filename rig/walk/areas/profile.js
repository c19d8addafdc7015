// The page of one's own account, and what a person does there.
import assert from "node:assert/strict";

export async function pages() {
  return [{ name: "profile", route: "/profile", path: "/profile" }];
}

export const tasks = {
  // A password that is refused, and the beginning of a second factor, without scripts.
  async profile({ s, open }) {
    const page = await open({ javaScriptEnabled: false });
    await page.goto("/profile");
    const panel = page.locator("section[aria-label='Second factor']");
    await panel.getByLabel("Present password").fill("this is not it");
    await panel.getByRole("button", { name: "Add a second factor" }).click();
    await page.getByText("This is not your password").first().waitFor();
    await page.locator("section[aria-label='Second factor']").getByLabel("Present password").fill(s.password);
    await page.getByRole("button", { name: "Add a second factor" }).click();
    await page.getByRole("img", { name: "QR code of the secret" }).waitFor();
    const secret = (await page.locator("section[aria-label='Second factor'] code").first().textContent()).trim();
    assert.match(secret, /^[A-Z2-7]{32}$/);
    await page.getByLabel("Code that the app shows").fill("000000");
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("This code is wrong").first().waitFor();
    assert.ok(!(await page.content()).includes(secret), "the secret is shown again");
  },
};
