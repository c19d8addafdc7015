// The command palette: Ctrl-K or / goes to anything by its name and leads to
// what can be done on the page; ? shows the keys. The web app finds, this draws.
"use strict";
{
const singleKeys = () => localStorage.getItem("single-keys") !== "off";
const make = (html) => { const t = document.createElement("template"); t.innerHTML = html; return t.content.firstElementChild; };

const palette = make(`<dialog class="palette" aria-label="Go to, or do">
  <input type="text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list" autocomplete="off" spellcheck="false"
    maxlength="64" aria-label="Name of a page or an object" placeholder="Go to a page, host, allocation, job …">
  <div id="palette-list" role="listbox" aria-label="Found"></div>
  <p class="palette-foot" aria-live="polite"></p>
</dialog>`);
const keys = make(`<dialog class="palette keys" aria-labelledby="keys-title">
  <h2 id="keys-title">Keys</h2>
  <dl>
    <div><dt><kbd>Ctrl</kbd> <kbd>K</kbd></dt><dd>go to anything by its name, or do what can be done here</dd></div>
    <div><dt><kbd>/</kbd></dt><dd>the same</dd></div>
    <div><dt><kbd>↑</kbd> <kbd>↓</kbd> <kbd>Enter</kbd></dt><dd>choose, and go</dd></div>
    <div><dt><kbd>Esc</kbd></dt><dd>close</dd></div>
    <div><dt><kbd>?</kbd></dt><dd>these keys</dd></div>
  </dl>
  <div class="check"><input type="checkbox" id="single-keys"><label for="single-keys">Keys without Ctrl: <kbd>/</kbd> and <kbd>?</kbd></label></div>
  <form method="dialog"><button>Close</button></form>
</dialog>`);
document.body.append(palette, keys);
const input = palette.querySelector("input");
const list = palette.querySelector("[role=listbox]");
const foot = palette.querySelector(".palette-foot");
let asking = null, timer = 0, actions = [];

// Actions on this page: its operations lead to their forms.
function actionsHere() {
  const all = [];
  for (const el of document.querySelectorAll("main .ops button:not(:disabled), main .ops summary, main .ops a.button, main .head a.button, main .head button")) {
    if (el.closest("details.confirm form") || el.hidden) continue;
    const what = el.closest("li")?.querySelector("p")?.textContent.trim() || "";
    all.push({ el, label: el.textContent.trim().replace(/\s+/g, " "), what });
  }
  return all;
}

function drawActions(q) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const fit = actions.filter((a) => words.every((w) => a.label.toLowerCase().includes(w)));
  if (!fit.length) return;
  const group = make(`<div role="group" aria-label="On this page"><div class="group-name" aria-hidden="true">On this page</div></div>`);
  for (const a of fit) {
    const o = make(`<div role="option" aria-selected="false"><span class="label-text"></span><span class="muted note-text"></span></div>`);
    o.id = "go-here-" + actions.indexOf(a);
    o.dataset.action = actions.indexOf(a);
    o.querySelector(".label-text").textContent = a.label;
    o.querySelector(".note-text").textContent = a.what;
    group.append(o);
  }
  list.prepend(group);
}

const all = () => [...list.querySelectorAll("[role=option]")];
function choose(o) {
  for (const other of list.querySelectorAll('[aria-selected="true"]')) other.setAttribute("aria-selected", "false");
  if (!o) { input.removeAttribute("aria-activedescendant"); return; }
  o.setAttribute("aria-selected", "true");
  input.setAttribute("aria-activedescendant", o.id);
  o.scrollIntoView({ block: "nearest" });
}
const chosen = () => list.querySelector('[aria-selected="true"]');

async function ask() {
  asking?.abort();
  const mine = (asking = new AbortController());
  const q = input.value.trim();
  try {
    const answer = await fetch(document.querySelector(".goto").getAttribute("href") + "?q=" + encodeURIComponent(q), { headers: { "X-Palette": "1" }, signal: mine.signal });
    if (answer.redirected) { location.reload(); return; }
    if (!answer.ok) throw new Error(answer.status);
    const html = await answer.text();
    if (mine.signal.aborted) return;
    list.innerHTML = html;
  } catch {
    if (mine.signal.aborted) return;
    list.replaceChildren();
    foot.textContent = "Kloigos can't be reached right now; type again to try again.";
    drawActions(q);
    return;
  }
  drawActions(q);
  choose(all()[0]);
  const n = all().length;
  foot.textContent = n === 1 ? "1 result" : n ? n + " results" : "No results";
}

function take(o) {
  if (!o) return;
  palette.close();
  if (o.dataset.href) { location.assign(o.dataset.href); return; }
  const el = actions[Number(o.dataset.action)].el;
  const confirm = el.closest("details.confirm");
  if (confirm) confirm.open = true;
  const to = confirm?.querySelector("input") || el;
  to.scrollIntoView({ block: "center" });
  to.focus(); // what changes something is sent by a key or click of its own
  if (el.matches("a")) el.click();
}

function open() {
  if (palette.open || keys.open) return;
  actions = actionsHere();
  input.value = "";
  list.replaceChildren();
  foot.textContent = "";
  palette.showModal();
  input.focus();
  ask();
}

// isTyping tells of keys that a field takes; one of a dialog just closed has the focus until the next frame. The target of
// a key in a shadow root is its host, so the first of the event's path is looked at.
function isTyping(e) {
  const at = e.composedPath()[0];
  return at.checkVisibility() && at.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
}

function openKeys() {
  if (palette.open || keys.open) return;
  keys.querySelector("#single-keys").checked = singleKeys();
  keys.showModal();
}

keys.querySelector("#single-keys").addEventListener("change", (e) => localStorage.setItem("single-keys", e.target.checked ? "on" : "off"));
input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, 120); });
input.addEventListener("keydown", (e) => {
  const options = all(), at = options.indexOf(chosen());
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: Math.min(at + 8, options.length - 1), PageUp: Math.max(at - 8, 0) }[e.key];
  if (to !== undefined && options.length) {
    e.preventDefault();
    choose(options[(to + options.length) % options.length]);
  } else if (e.key === "Enter") {
    e.preventDefault();
    take(chosen());
  }
});
list.addEventListener("click", (e) => take(e.target.closest("[role=option]")));
for (const d of [palette, keys]) d.addEventListener("click", (e) => { if (e.target === d) d.close(); });

document.addEventListener("keydown", (e) => {
  if ((e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === "k") { e.preventDefault(); open(); return; }
  if (e.ctrlKey || e.metaKey || e.altKey || !singleKeys() || isTyping(e)) return;
  if (e.key === "/") { e.preventDefault(); open(); }
  if (e.key === "?") { e.preventDefault(); openKeys(); }
});
document.addEventListener("click", (e) => {
  if (!e.target.closest("a.goto") || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  open();
});
}
