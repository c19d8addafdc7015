// The pages of usage, statements and prices, and what a person does there.
import assert from "node:assert/strict";

export async function pages() {
  return [
    { name: "usage", route: "/usage", path: "/usage?scope=default" },
    { name: "statement", route: "/statements", path: "/statements?organization=default" },
    { name: "prices", route: "/prices", path: "/prices" },
  ];
}

export const tasks = {
  // A price is set for the first of the next month, and deleted again. A statement names the month that was chosen.
  async prices({ open }) {
    const page = await open();
    await page.goto("/statements?organization=default");
    const month = await page.locator("main").getByLabel("Month").inputValue();
    await page.getByRole("link", { name: "Prices" }).click();
    await page.locator("main").getByLabel("Resource").selectOption("volume_gib_hour");
    await page.locator("main").getByRole("textbox", { name: "Price" }).fill("0,1");
    await page.getByRole("button", { name: "Set" }).click();
    await page.getByText("Write a decimal number").waitFor();
    await page.locator("main").getByRole("textbox", { name: "Price" }).fill("0.0005");
    await page.getByRole("button", { name: "Set" }).click();
    await page.getByText("The price is set.").waitFor();
    const later = page.getByRole("region", { name: "Prices that begin later" });
    const row = later.getByRole("row").filter({ hasText: "0.0005 EUR" });
    await row.getByText("Delete …").click();
    await row.getByRole("button", { name: "Delete" }).click();
    await page.getByText("The price is deleted.").waitFor();
    assert.equal(await row.count(), 0);
    await page.goto("/statements?organization=default");
    await page.locator("main").getByRole("link", { name: /^\d{4}-\d{2}$/ }).first().click();
    const before = await page.locator("main").getByLabel("Month").inputValue();
    assert.ok(before < month, `${before} is before ${month}`);
  },
};
