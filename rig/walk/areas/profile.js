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

  // A passkey from its making to its end, on a device that Chromium plays. Passkeys belong to a name, so the pages are opened by one.
  async "log in with a passkey"({ s, open }) {
    const page = await open({ storageState: undefined, baseURL: s.web.replace("127.0.0.1", "localhost") });
    const device = await page.context().newCDPSession(page);
    await device.send("WebAuthn.enable");
    const { authenticatorId } = await device.send("WebAuthn.addVirtualAuthenticator", { options: {
      protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true,
    } });
    const kept = async () => (await device.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
    const may = (isUserVerified) => device.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
    // The address of the login page ends with /profile too.
    const profile = () => page.waitForURL((url) => url.pathname === "/profile");
    const panel = page.locator("section[aria-label='Passkeys']"), logOut = async () => {
      await page.getByRole("button", { name: "Log out" }).click();
      await page.waitForURL("**/login*");
    };

    await page.goto("/login?next=/profile");
    await page.getByLabel("Account").fill(s.account);
    await page.getByLabel("Password").fill(s.password);
    await page.keyboard.press("Enter");
    await profile();

    // A wrong password asks no device. The page says so, and asks again.
    await panel.getByLabel("Name of the device").fill("walker's laptop");
    await panel.getByLabel("Present password").fill("this is not it");
    await panel.getByRole("button", { name: "Add a passkey" }).click();
    await panel.getByRole("alert").getByText("password").waitFor();
    assert.equal((await kept()).length, 0);
    await panel.getByLabel("Present password").fill(s.password);
    await panel.getByRole("button", { name: "Add a passkey" }).click();
    await page.waitForURL("**/profile?said=passkey-added");
    await panel.getByRole("cell", { name: "walker's laptop" }).waitFor();
    const [credential] = await kept();
    assert.equal(credential.rpId, "localhost");
    assert.ok(credential.isResidentCredential, "the device does not keep the passkey");

    // In again without account and password, and back to the page that was asked for.
    await logOut();
    await page.goto("/login?next=/profile");
    await page.getByRole("button", { name: "Log in with a passkey" }).click();
    await profile();
    assert.equal(await panel.getByRole("row", { name: /walker's laptop/ }).locator("time").count(), 2, "its last use is not told");

    // A device that does not know its user lets nobody in.
    await logOut();
    await may(false);
    await page.getByRole("button", { name: "Log in with a passkey" }).click();
    await page.getByText("The device did not answer, or you cancelled it.").waitFor();
    await may(true);
    await page.getByRole("button", { name: "Log in with a passkey" }).click();
    await page.waitForURL((u) => u.pathname !== "/login");

    // Removed here, the key on the device opens nothing.
    await page.goto("/profile");
    await panel.locator("summary").click();
    await panel.getByRole("button", { name: "Remove walker's laptop" }).click();
    await page.waitForURL("**/profile?said=passkey-removed");
    assert.equal(await panel.getByRole("cell", { name: "walker's laptop" }).count(), 0);
    assert.equal((await kept()).length, 1);
    await logOut();
    await page.getByRole("button", { name: "Log in with a passkey" }).click();
    await page.waitForURL("**/login/passkey");
    await page.getByRole("alert").first().waitFor();
  },
};
