// Looks at one page as it stands in a browser: what went wrong, what moved, what axe finds, what it is made of.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
// The two themes differ in colours alone, and these are the rules that look at them.
const colours = ["color-contrast", "link-in-text-block"];

// watch keeps what goes wrong in a page from now on; call the result for it, and to begin anew.
export async function watch(page, origin) {
  let wrong = [];
  page.on("console", (m) => { if (m.type() === "error") wrong.push(`console: ${m.text()} ${m.location().url}`); });
  page.on("pageerror", (e) => wrong.push(`script: ${e.stack ?? e}`));
  page.on("request", (r) => { if (!/^(data|blob):/.test(r.url()) && new URL(r.url()).origin !== origin) wrong.push(`asked another origin: ${r.url()}`); });
  await page.addInitScript(() => {
    window.walkShifts = [];
    window.walkViolations = [];
    const where = (n) => (n?.nodeType === 1 ? n : n?.parentElement)?.outerHTML.slice(0, 120) ?? "(gone)";
    // A log that is followed moves, that is what it is for: lines come above its end and behind it in one frame.
    const followed = (n) => document.querySelector("#follow[aria-pressed=true]") && (n?.nodeType === 1 ? n : n?.parentElement)?.closest("#logbox");
    new PerformanceObserver((l) => {
      for (const e of l.getEntries()) {
        if (!e.hadRecentInput && !(e.sources.length && e.sources.every((s) => followed(s.node)))) window.walkShifts.push(`${e.value.toFixed(5)} at ${Math.round(e.startTime)} ms: ${e.sources.map((s) => where(s.node)).join(" ; ")}`);
      }
    }).observe({ type: "layout-shift", buffered: true });
    document.addEventListener("securitypolicyviolation", (e) => window.walkViolations.push(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`));
  });
  return () => { const all = wrong; wrong = []; return all; };
}

// settled waits until the page has loaded and drawn, and its scripts had a moment.
export async function settled(page, ms = 120) {
  await page.waitForLoadState("load");
  await page.evaluate((ms) => new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), ms)), ms);
}

// moved returns what moved by itself, what the content policy refused, and what goes over an edge of the window.
export async function moved(page) {
  const wrong = await page.evaluate(() => [...window.walkShifts.map((s) => `layout moved by ${s}`), ...window.walkViolations.map((v) => `content policy: ${v}`)]);
  return [...wrong, ...await over(page)];
}

// over returns what goes over the left or the right edge of the window.
export function over(page) {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth, wide = document.documentElement.scrollWidth - width;
    // What lies in something that is scrolled or cut by itself is meant to go on there; what only a screen reader reads has no place.
    const cut = (e) => { for (let up = e.parentElement; up && up !== document.body; up = up.parentElement) if (getComputedStyle(up).overflowX !== "visible") return true; return false; };
    const out = [...document.querySelectorAll("body *")].find((e) => {
      const r = e.getBoundingClientRect();
      return r.width > 1 && r.height > 1 && (r.left < -1 || r.right > width + 1) && e.checkVisibility() && !e.closest(".skip, .visually-hidden") && !cut(e);
    });
    const wrong = wide > 0 ? [`the page is ${wide} px wider than the window`] : [];
    if (out) wrong.push(`from ${Math.round(out.getBoundingClientRect().left)} to ${Math.round(out.getBoundingClientRect().right)} px in a window of ${width}: ${out.outerHTML.slice(0, 160)}`);
    return wrong;
  });
}

// unfold opens everything that is folded, so that it is looked at too.
export const unfold = (page) => page.evaluate(() => { for (const d of document.querySelectorAll("details")) d.open = true; });

// findings returns what axe finds in the light theme, and of the dark one what its colours can change.
export async function findings(page, colorScheme) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const runOnly = colorScheme === "dark" ? { type: "rule", values: colours } : { type: "tag", values: rules };
  const found = await page.evaluate(async (runOnly) => {
    const r = await window.axe.run(document, { runOnly, resultTypes: ["violations"] });
    return r.violations.map((v) => ({ id: v.id, help: v.help, nodes: v.nodes.map((n) => `${n.target.join(" ")}: ${n.html.slice(0, 140)} ${n.any.map((a) => a.message).join("; ").slice(0, 200)}`) }));
  }, runOnly);
  return found.map((v) => `axe ${v.id}: ${v.help} (${v.nodes.length})\n      ${v.nodes.slice(0, 4).join("\n      ")}`);
}

export const firstPaint = async (page) => (await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime)).jsonValue();
