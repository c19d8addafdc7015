// Pictures of the pages for the README and the docs.
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { settled } from "./look.js";

const laptop = [1280, 820], phone = [390, 780];

// Each: the page of pages.js, and how it is looked at; act does something first.
const pictures = [
  { file: "overview", page: "overview" },
  { file: "overview-dark", page: "overview", dark: true },
  { file: "overview-phone", page: "overview", size: phone },
  { file: "hosts", page: "hosts" },
  { file: "host", page: "host" },
  { file: "host-phone", page: "host", size: phone, dark: true },
  { file: "layout", page: "layout-first" },
  { file: "units", page: "units" },
  { file: "allocations", page: "allocations" },
  { file: "allocate", page: "allocation-new" },
  { file: "allocation", page: "allocation" },
  { file: "jobs", page: "jobs" },
  { file: "job", page: "job-long" },
  { file: "job-dark", page: "job-running", dark: true },
  { file: "addresses", page: "addresses" },
  { file: "events", page: "events" },
  { file: "system", page: "system" },
  { file: "go-to", page: "hosts", dark: true, act: async (page) => {
    await page.keyboard.press("Control+k");
    await page.locator("dialog.palette input[role=combobox]").pressSequentially("fra1-00");
    await page.locator("dialog [role=option]").first().waitFor();
    await page.waitForTimeout(400);
  } },
];

export async function takePictures(browser, s, list, context, dir) {
  mkdirSync(dir, { recursive: true });
  for (const f of readdirSync(dir)) if (f.endsWith(".png")) rmSync(`${dir}/${f}`);
  for (const p of pictures) {
    const c = await context(browser, s, p.size ?? laptop, { colorScheme: p.dark ? "dark" : "light" });
    const page = await c.newPage();
    await page.goto(list.find((l) => l.name === p.page).path);
    await settled(page, 1000); // what is asked for by scripts is there as well
    await p.act?.(page);
    await page.screenshot({ path: `${dir}/${p.file}.png` });
    await c.close();
  }
  const sizes = readdirSync(dir).map((f) => statSync(`${dir}/${f}`).size);
  return `${sizes.length} pictures, ${Math.round(sizes.reduce((a, b) => a + b) / 1024)} KiB`;
}
