// What a page is made of, without its data: landmarks, headings, fields with their labels, heads of tables, buttons, links
// by the route that they lead to. It runs in the page, so it uses nothing from outside of itself.

// outline returns the lines. names are words of the data (a host's name); routes are the web app's patterns.
export function outline({ names, routes }) {
  const patterns = routes.map((route) => ({ route, is: new RegExp("^" + route.replace(/:[a-z]+/g, "[^/]+") + "$") }))
    .sort((a, b) => a.route.split(":").length - b.route.split(":").length);

  function plain(text) {
    let t = (text ?? "").replace(/\s+/g, " ").trim();
    for (const name of names) t = t.replaceAll(name, "‹name›");
    return t.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "‹id›").replace(/\d+([.,:]\d+)*/g, "#");
  }

  function leads(a) {
    const to = new URL(a.href);
    const route = patterns.find((p) => p.is.test(to.pathname))?.route ?? plain(to.pathname);
    const query = [...new Set(to.searchParams.keys())].sort().join("&");
    return route + (query && "?" + query) + (to.hash && "#");
  }

  const named = (e) => plain(e.getAttribute("aria-label") ?? document.getElementById(e.getAttribute("aria-labelledby"))?.textContent ?? "");
  const quoted = (t) => (t ? ` "${t}"` : "");

  // Text that is seen or read out: an icon says nothing, a word that is there for screen readers does.
  function text(e) {
    const copy = e.cloneNode(true);
    for (const gone of copy.querySelectorAll("svg, [aria-hidden=true], time, .need, .hint")) gone.remove();
    return plain(copy.textContent);
  }

  function field(e) {
    const label = named(e) || (e.labels?.length ? text(labelOnly(e.labels[0])) : "");
    const kind = e.tagName === "INPUT" ? e.type : e.tagName.toLowerCase();
    return `field ${kind}${quoted(label)}${e.required ? " required" : ""}${e.disabled ? " disabled" : ""}`;
  }

  function labelOnly(label) { // without the options of a select within it
    const copy = label.cloneNode(true);
    for (const inner of copy.querySelectorAll("select, input, textarea")) inner.remove();
    return copy;
  }

  const landmarks = { HEADER: "banner", NAV: "navigation", MAIN: "main", ASIDE: "complementary", FOOTER: "contentinfo", FORM: "form", FIELDSET: "group", DETAILS: "details", DIALOG: "dialog" };

  // own returns the line of an element itself, "" for one that says nothing, and whether what is in it is told as well.
  function own(e) {
    const tag = e.tagName;
    if (/^H[1-6]$/.test(tag)) return [`${tag.toLowerCase()} "${text(e)}"`, false];
    if (tag === "BUTTON" || e.getAttribute("role") === "button") return [`button "${named(e) || text(e)}"${e.disabled ? " disabled" : ""}`, false];
    if (tag === "A" && e.href) {
      const to = leads(e);
      const data = to.includes(":") && !e.matches(".button") && !e.closest("nav, .panel-head");
      return [`link ${data ? "…" : `"${named(e) || text(e)}"`} → ${to}`, false];
    }
    if (tag === "INPUT" && e.type === "hidden") return ["", false];
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(tag)) return [field(e), false];
    if (tag === "SUMMARY" || tag === "LEGEND" || tag === "DT") return ["", tag !== "DT"];
    if (tag === "DL") return [`facts: ${[...new Set([...e.querySelectorAll("dt")].map(text))].map((t) => t.replace(/^\/dev\/.*/, "‹device›")).filter((t, i, all) => all.indexOf(t) === i).join(" | ")}`, true];
    if (tag === "TABLE") return [`table: ${[...e.querySelectorAll("thead th")].filter((h) => h.checkVisibility()).map((h) => text(h)).join(" | ")}`, true];
    if (tag === "THEAD") return ["", false];
    if (tag === "svg" || tag === "IMG") {
      const role = e.getAttribute("role");
      return [role === "img" ? "image" : "", false];
    }
    const role = e.getAttribute("role");
    const name = tag === "DETAILS" ? text(e.querySelector("summary")) : tag === "FIELDSET" ? text(e.querySelector("legend") ?? e.cloneNode()) : named(e);
    if (role) return [role + quoted(name), role !== "log"]; // what a log tells is data, and it goes on
    if (landmarks[tag]) return [landmarks[tag] + quoted(name), true];
    if (tag === "SECTION" && name) return ["region" + quoted(name), true];
    if (e.hasAttribute("aria-live")) return ["live", true];
    return ["", true];
  }

  function lines(e) {
    if (!e.checkVisibility({ visibilityProperty: true })) return [];
    const [line, further] = own(e);
    const inner = further ? within(e) : [];
    return line ? [line, ...inner.map((l) => "  " + l)] : inner;
  }

  // Of parts that are alike one is told; rows come in the data's order, so theirs is made by the alphabet.
  function within(e) {
    const seen = new Set();
    const parts = [];
    for (const child of e.children) {
      const part = lines(child);
      const key = part.join("\n");
      if (!part.length || seen.has(key)) continue;
      seen.add(key);
      parts.push(part);
    }
    if (e.matches("tbody, tbody *, ul:not(.side ul), ol, .todo, .hostgrid")) {
      const each = new Set(parts.flatMap((p) => (p.some((l) => l.startsWith("  ")) ? [p.join("\n")] : p)));
      return [...each].sort().flatMap((p) => p.split("\n"));
    }
    return parts.flat();
  }

  return lines(document.body);
}
