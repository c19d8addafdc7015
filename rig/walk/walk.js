// Walks every page of the web app with a browser; see README.md.
import { mkdirSync, readFileSync, rmSync, writeFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { findings, firstPaint, moved, over, settled, unfold, watch } from "./look.js";
import { outline } from "./outline.js";
import { pages, parts } from "./pages.js";
import { areas } from "./areas.js";
import { stands, start } from "./showcase.js";
import { takePictures } from "./screenshots.js";
import { prepare, tasks } from "./tasks.js";

const here = fileURLToPath(new URL(".", import.meta.url)), root = fileURLToPath(new URL("../../", import.meta.url));
const widths = { laptop: [1280, 800], phone: [390, 844], wall: [2560, 1440] };

// themes are those in which axe looks at each width, in the short form.
const themes = { laptop: ["light", "dark"], phone: ["light"], wall: [] };

const { values: flags } = parseArgs({ options: {
  update: { type: "boolean" }, // write structure/ anew
  showcase: { type: "string" }, // what one that runs has printed
  screenshots: { type: "boolean" }, // write docs/screenshots anew, and do nothing else
  look: { type: "string" }, // put pictures of the pages that --only names into this directory, and do nothing else
  long: { type: "boolean" }, // each page is looked at in the widest window too, and by axe; else each eighth, for its edges and what moves
  minutes: { type: "string" }, // looks at no further page after so many, and says at which it did not look; the tasks come all the same
  only: { type: "string" }, // pages and tasks whose names hold one of these, between commas
} });
const fits = (name) => !flags.only || flags.only.split(",").some((part) => name.includes(part));

const wrong = [];
const say = (text) => console.log(text);
function fail(what, list) {
  for (const w of list) { wrong.push(`${what}: ${w}`); say(`  ✗ ${what}: ${w}`); }
}

const routes = readFileSync(`${root}webapp/internal/app/testdata/routes.txt`, "utf8").trim().split("\n")
  .filter((l) => l.startsWith("GET ")).map((l) => l.slice(4));

// context is a browser of its own with the session, at a width.
export async function context(browser, s, size, more = {}) {
  const c = await browser.newContext({ baseURL: s.web, viewport: { width: size[0], height: size[1] }, colorScheme: "light", reducedMotion: "reduce",
    storageState: { cookies: [{ name: "kloigos", value: s.token, domain: "127.0.0.1", path: "/", expires: -1, httpOnly: true, secure: false, sameSite: "Lax" }], origins: [] }, ...more });
  c.setDefaultTimeout(20_000);
  c.setDefaultNavigationTimeout(60_000); // a busy machine is no finding
  return c;
}

// withoutShell takes what is around every page out of an outline. It is the same for all pages, so it is held once.
function withoutShell(lines) {
  const main = lines.findIndex((l) => /^main\b/.test(l));
  if (main < 0 || !lines.slice(0, main).includes("banner")) return { lines, shell: null };
  const shell = lines.slice(0, main).map((l, i) => (i === 0 ? l.replace(/^link .* → \S*#$/, 'link "Skip to content" → #') : l));
  return { lines: lines.slice(main), shell };
}

// structureOf compares a page's outlines of all widths with the file, those that are the same in one section.
function structureOf(name, outlines) {
  const sections = new Map();
  for (const [width, lines] of Object.entries(outlines)) sections.set(lines.join("\n"), [...(sections.get(lines.join("\n")) ?? []), width]);
  const got = [...sections].map(([text, on]) => `== ${on.join(", ")}\n${text}\n`).join("");
  const file = `${here}structure/${name}.txt`;
  if (flags.update) { writeFileSync(file, got); return []; }
  let want = "";
  try { want = readFileSync(file, "utf8"); } catch { return [`structure/${name}.txt is missing; write it with -- --update`]; }
  if (want === got) return [];
  const a = want.split("\n"), b = got.split("\n");
  const at = b.findIndex((l, i) => l !== a[i]);
  const gone = a.filter((l) => !b.includes(l)), come = b.filter((l) => !a.includes(l));
  return [`is not made as structure/${name}.txt says (from line ${at + 1}; write it anew with -- --update if that is meant)\n${[...gone.map((l) => `      - ${l}`), ...come.map((l) => `      + ${l}`)].slice(0, 30).join("\n")}`];
}

// tokenOf is the session that a page is opened with: the administrator's, another one's, or none.
const tokenOf = (p, s) => (p.bare ? "" : p.token ?? s.token);

// late is whether the time for pages is over.
const beganAt = Date.now(), late = () => flags.minutes && Date.now() - beganAt > flags.minutes * 60_000;
const took = { laptop: 0, phone: 0, wall: 0 }; // ms

// lanes is how many pages are looked at beside each other: as many as a small machine has processors.
const lanes = 2;

// lookAt opens one page and looks at it; the outline of its structure is returned.
async function lookAt(p, { page, happened }, width, names) {
  // What the last page still asked for is nothing of this one. (A blank page would have a process of its own, and so would the next one.)
  await page.goto("/web/healthz");
  happened();
  const answer = await page.goto(p.path);
  if (p.until) await page.locator(p.until).first().waitFor();
  await settled(page, p.settle);
  const found = answer.status() === (p.status ?? 200) ? [] : [`status ${answer.status()}`];
  found.push(...await moved(page));
  await unfold(page);
  found.push(...await over(page));
  for (const colorScheme of flags.long ? ["light", "dark"] : themes[width]) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await findings(page, colorScheme)).map((f) => `${colorScheme}: ${f}`));
  }
  await page.emulateMedia({ colorScheme: "light" });
  const made = await page.evaluate(outline, { names, routes });
  // A browser asks for /favicon.ico beside what is no page; the pages name their own.
  found.push(...happened().filter((h) => !(p.status && h.includes(`status of ${p.status}`)) && !h.endsWith("/favicon.ico")));
  fail(`${p.name} (${width})`, found);
  return made;
}

// walkLane looks at pages of the list until none is left or the time is over, in browsers of its own: one for each session and
// width, and one for nobody's.
async function walkLane(browser, s, left, names, outlines) {
  const open = new Map();
  while (left.length && !late()) {
    const { p, on } = left.shift(), token = tokenOf(p, s);
    for (const width of on) {
      const key = `${width} ${token}`;
      if (!open.has(key)) {
        const c = await context(browser, { ...s, token }, widths[width], token ? {} : { storageState: undefined });
        const page = await c.newPage();
        open.set(key, { c, page, happened: await watch(page, s.web) });
      }
      const began = Date.now();
      outlines[p.name][width] = await lookAt(p, open.get(key), width, names);
      took[width] += Date.now() - began;
    }
  }
  for (const { c } of open.values()) await c.close();
}

async function walkPages(browser, s, list, names) {
  const outlines = Object.fromEntries(list.map((p) => [p.name, {}])), began = Date.now();
  const left = list.map((p, n) => ({ p, on: Object.keys(widths).filter((width) => width !== "wall" || flags.long || n % 8 === 0) }));
  await Promise.all(Array.from({ length: lanes }, () => walkLane(browser, s, left, names, outlines)));
  say(`  ${list.length - left.length} pages: ${Math.round((Date.now() - began) / 1000)} s; one took ${Object.entries(took).map(([w, ms]) => `${(ms / 1000 / Math.max(1, Object.values(outlines).filter((o) => o[w]).length)).toFixed(1)} s on a ${w}`).join(", ")}`);
  if (left.length) say(`  ${left.length} OF ${list.length} PAGES WERE NOT LOOKED AT, because ${flags.minutes} minutes are over: ${left.map(({ p }) => p.name).join(", ")}`);
  list = list.slice(0, list.length - left.length);
  for (const p of list) outlines[p.name].wall ??= outlines[p.name].laptop; // of those that were not looked at there
  const shells = new Map(); // by their text: how they look at each width
  for (const p of list) {
    const inner = {}, shell = {};
    for (const [width, lines] of Object.entries(outlines[p.name])) {
      const parts = withoutShell(lines);
      inner[width] = parts.lines;
      if (parts.shell) shell[width] = parts.shell;
    }
    if (Object.keys(shell).length && !p.token) shells.set(JSON.stringify(shell), { shell, name: p.name });
    fail(p.name, structureOf(p.name, inner));
  }
  const [first, ...others] = shells.values();
  if (first) fail(`navigation of ${first.name}`, structureOf("shell", first.shell));
  for (const o of others) fail(o.name, [`has another navigation than ${first.name}`]);
}

// walkParts asks for what is no page.
async function walkParts(s, list) {
  for (const p of list) {
    const end = new AbortController();
    const answer = await fetch(s.web + p.path, { headers: { Cookie: `kloigos=${s.token}`, ...(p.stream && { Accept: "text/event-stream" }) }, signal: end.signal, redirect: "manual" });
    let text = "";
    if (p.stream) for await (const part of answer.body) { text += new TextDecoder().decode(part); if (text.includes(p.says)) break; }
    else text = await answer.text();
    if (answer.status !== 200 || !(answer.headers.get("content-type") ?? "").startsWith(p.type) || !text.includes(p.says) || !text) {
      fail(p.path, [`status ${answer.status}, ${answer.headers.get("content-type")}: ${text.slice(0, 200)}`]);
    }
    end.abort();
  }
}

// doing does a task in browsers of its own, of which nothing may go wrong that the task does not mean to.
async function doing(browser, s, task) {
  const all = [];
  const open = async (more = {}) => {
    const c = await context(browser, s, widths.laptop, more);
    all.push(c);
    const page = await c.newPage();
    await watch(page, more.baseURL ?? s.web);
    return page;
  };
  try {
    return await task({ s, open, root });
  } finally {
    for (const c of all) await c.close();
  }
}

async function doTasks(browser, s) {
  for (const [name, task] of areas.reduce((all, a) => all.concat(Object.entries(a.tasks)), Object.entries(tasks)).filter(([name]) => fits(name))) {
    const began = Date.now();
    try {
      await doing(browser, s, task);
      say(`  ${name}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
    } catch (e) {
      fail(name, [String(e.stack ?? e).replace(/\u001b\[\d+m/g, "").split("\n").slice(0, 8).join("\n      ")]);
    }
  }
}

function everyRouteIsVisited(visited) {
  fail("routes", routes.filter((r) => !visited.has(r)).map((r) => `GET ${r} is not visited: add it to pages.js`));
  fail("routes", [...visited].filter((r) => r && !routes.includes(r)).map((r) => `${r} of pages.js is no route`));
  const names = new Set(readdirSync(`${here}structure`).map((f) => f.replace(/\.txt$/, "")));
  return names;
}

// paint measures the overview as someone meets it who has its style and scripts already.
async function paint(browser, s) {
  const c = await context(browser, s, widths.laptop);
  const page = await c.newPage(), times = [];
  for (let n = 0; n < 8; n++) {
    await page.goto("/");
    await settled(page);
    times.push(await firstPaint(page));
  }
  await c.close();
  times.splice(0, 1); // fills the cache
  times.sort((a, b) => a - b);
  say(`  overview: first paint after ${Math.round(times[3])} ms (median of 7; ${Math.round(times[0])} to ${Math.round(times[6])})`);
}

// lookOnly takes a picture of each page at two widths, for a person to look at.
async function lookOnly(browser, s, list) {
  mkdirSync(flags.look, { recursive: true });
  for (const width of ["laptop", "phone"]) {
    for (const p of list) {
      const token = tokenOf(p, s);
      const c = await context(browser, { ...s, token }, widths[width], token ? {} : { storageState: undefined });
      const page = await c.newPage();
      await page.goto(p.path);
      if (p.until) await page.locator(p.until).first().waitFor();
      await settled(page, p.settle);
      await page.screenshot({ path: `${flags.look}/${p.name}-${width}.png`, fullPage: true });
      await c.close();
    }
  }
  say(`${2 * list.length} pictures in ${flags.look}`);
}

async function main() {
  const began = Date.now();
  const s = flags.showcase ? stands(flags.showcase) : await start(root);
  say(`the showcase stands after ${Math.round((Date.now() - began) / 1000)} s`);
  const browser = await chromium.launch({ executablePath: process.env.KLOIGOS_CHROMIUM ?? "/usr/bin/chromium", args: ["--disable-gpu", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])] });
  try {
    const made = await doing(browser, s, prepare);
    await paint(browser, s);
    const list = await pages(s, made), others = parts(s, list);
    if (flags.screenshots) return say(await takePictures(browser, s, list, context, `${root}docs/screenshots`));
    if (flags.look) return await lookOnly(browser, s, list.filter((p) => fits(p.name)));
    if (flags.update && flags.minutes) throw new Error("--update needs all pages: leave --minutes away");
    if (flags.update && !flags.only) { rmSync(`${here}structure`, { recursive: true, force: true }); }
    mkdirSync(`${here}structure`, { recursive: true });
    await walkParts(s, others);
    await walkPages(browser, s, list.filter((p) => fits(p.name)), made.names);
    if (!flags.only) {
      const kept = everyRouteIsVisited(new Set([...list, ...others].map((p) => p.route)));
      fail("structure", [...kept].filter((n) => n !== "shell" && !list.some((p) => p.name === n)).map((n) => `${n}.txt belongs to no page`));
    }
    await doTasks(browser, s);
  } finally {
    await browser.close();
    await s.stop();
  }
  if (wrong.length && s.said?.()) say(`the servers said:\n${s.said()}`);
  say(wrong.length ? `${wrong.length} findings after ${Math.round((Date.now() - began) / 1000)} s` : `all well after ${Math.round((Date.now() - began) / 1000)} s`);
  process.exitCode = wrong.length ? 1 : 0;
}

await main();
