// What makes the pages live. Every page reads and every form works without it.
"use strict";

// Regions with hx-trigger="kl:tick from:body" are brought up to date while the
// page is looked at. htmx's own polling would go on in hidden tabs.
const tick = 4000;
// What is being measured is looked at twice as often.
const beat = 2000;
setInterval(() => {
  if (document.visibilityState === "visible" && document.querySelector("[data-watched]")) document.body.dispatchEvent(new Event("kl:beat"));
}, beat);
setInterval(() => {
  if (document.visibilityState === "visible") document.body.dispatchEvent(new Event("kl:tick"));
}, tick);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") document.body.dispatchEvent(new Event("kl:tick"));
});

// Do not change what someone is working in: a field with the focus, a
// selection, a confirmation that is open.
document.addEventListener("htmx:before:request", (e) => {
  const region = e.detail.ctx.sourceElement;
  if (!region.getAttribute("hx-trigger")?.startsWith("kl:tick")) return;
  const active = document.activeElement;
  const typing = region.contains(active) && active.matches("input, textarea, select");
  const selection = document.getSelection();
  const selecting = selection && !selection.isCollapsed && region.contains(selection.anchorNode);
  if (typing || selecting || region.querySelector("details.confirm[open]")) e.preventDefault();
});

// On a phone the page that one is on may lie beyond the edge of the list of pages; not all browsers start there by themselves.
{
  const here = document.querySelector(".side nav [aria-current]"), nav = here?.closest("nav");
  if (nav && nav.scrollLeft === 0 && here.offsetLeft + here.offsetWidth > nav.offsetLeft + nav.clientWidth) nav.scrollLeft = here.offsetLeft - nav.offsetLeft - 40;
}

const offline = (is) => {
  const bar = document.getElementById("offline");
  if (bar) bar.hidden = !is;
};
document.addEventListener("htmx:after:request", (e) => offline(e.detail.ctx.response.status >= 502));
document.addEventListener("htmx:error", (e) => { if (!e.detail.ctx?.response) offline(true); });
document.addEventListener("htmx:after:swap", () => enhance(document));

// Buttons that only scripts can serve are not seen until here; they have their place, so that nothing moves.
function enhance(root) {
  if (navigator.clipboard) for (const b of root.querySelectorAll("button[data-copy]")) b.classList.remove("unready");
  for (const b of root.querySelectorAll("button[data-back]")) b.classList.toggle("unready", history.length < 2);
}

document.addEventListener("click", async (e) => {
  const copy = e.target.closest("button[data-copy]");
  if (copy) {
    await navigator.clipboard.writeText(copy.dataset.copy);
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  }
  if (e.target.closest("button[data-back]")) history.back();
});

// A typed confirmation says so before it is sent.
document.addEventListener("input", (e) => {
  const want = e.target.dataset?.confirm;
  if (want !== undefined) e.target.setCustomValidity(e.target.value.trim() === want ? "" : "Type exactly: " + want);
});

// What is typed into a form that holds longer work is not lost without a question.
const unsaved = new Set(document.querySelectorAll("form[data-guard][data-unsaved]"));
document.addEventListener("input", (e) => {
  if (e.target.form?.matches("[data-guard]")) unsaved.add(e.target.form);
});
addEventListener("beforeunload", (e) => { if (unsaved.size) e.preventDefault(); });

// No form is sent twice by a double click.
document.addEventListener("submit", (e) => {
  if (e.defaultPrevented || e.target.method !== "post") return;
  if (e.target.dataset.sent) { e.preventDefault(); return; }
  e.target.dataset.sent = "1";
  unsaved.delete(e.target);
  addEventListener("pageshow", () => { delete e.target.dataset.sent; }, { once: true });
});

// A browser that goes back restores what was chosen in a filter, and not the list that it led to.
addEventListener("pageshow", (e) => {
  if (!e.persisted && performance.getEntriesByType("navigation")[0]?.type !== "back_forward") return;
  for (const form of document.querySelectorAll("form")) if (form.method === "get") form.reset();
});

// A form that is sent, or left half filled in, when the session has ended is filled in again after the login. It is kept in
// this tab, until a page comes that is not the login.
const keptAs = "kloigos-form";
let touched = null;
function keep(form) {
  if (!form || /\/(login|logout|web\/theme)$/.test(form.action) || form.querySelector("input[type=password]")) return;
  const fields = [...new FormData(form)].filter(([name, value]) => name !== "key" && typeof value === "string");
  try { sessionStorage.setItem(keptAs, JSON.stringify({ action: new URL(form.action).pathname, fields })); } catch { /* too long, or forbidden */ }
}
document.addEventListener("input", (e) => { if (e.target.form?.method === "post") touched = e.target.form; });
document.addEventListener("submit", (e) => { if (e.target.method === "post") { touched = null; keep(e.target); } });
addEventListener("pagehide", () => keep(touched));

function restore({ action, fields }) {
  const form = [...document.forms].find((f) => f.method === "post" && new URL(f.action).pathname === action);
  if (!form) return;
  const left = new Map();
  for (const [name, value] of fields) left.set(name, [...(left.get(name) ?? []), value]);
  for (const field of form.elements) {
    if (!field.name || field.name === "key" || field.matches("button, [type=file], [type=password]")) continue;
    const values = left.get(field.name) ?? [];
    if (field.matches("[type=checkbox], [type=radio]")) field.checked = values.includes(field.value);
    else if (values.length) field.value = values.shift();
  }
  for (let up = form; up; up = up.parentElement) if (up.matches("details")) up.open = true;
  if (form.matches("[data-guard]")) unsaved.add(form);
  document.getElementById("restored").hidden = false;
  form.dispatchEvent(new Event("input", { bubbles: true })); // what is shown beside it follows
}
{
  const login = document.querySelector("form[action='/login']"), kept = JSON.parse(sessionStorage.getItem(keptAs));
  if (login && kept) {
    sessionStorage.setItem(keptAs, JSON.stringify({ ...kept, login: true }));
    const restores = Object.assign(document.createElement("input"), { type: "hidden", name: "restores", value: "true" });
    login.append(restores);
  } else if (kept) {
    sessionStorage.removeItem(keptAs);
    if (kept.login) restore(kept);
  }
}

// Filters apply as soon as one is chosen.
document.addEventListener("change", (e) => {
  const form = e.target.closest("form[data-auto-submit]");
  if (form && e.target.matches("select")) form.requestSubmit();
});

// A choice of columns closes like a menu.
const closeColumns = (but) => { for (const d of document.querySelectorAll("details.columns[open]")) if (d !== but) d.open = false; };
document.addEventListener("click", (e) => closeColumns(e.target.closest("details.columns")));
document.addEventListener("keydown", (e) => {
  const open = e.key === "Escape" && e.target.closest?.("details.columns[open]");
  if (open) { open.open = false; open.querySelector("summary").focus(); }
});

enhance(document);
const wrong = document.getElementById("wrong");
// Who mistyped a password types it again; all else is read first. Who types already goes on.
const now = document.activeElement;
if (wrong && (now === document.body || now.autofocus && now.value === now.defaultValue)) (wrong.closest("form")?.querySelector("input[type=password]") ?? wrong).focus();

// The secret of a link for a password stands behind #, so that it is sent to nobody but with the form.
{
  const link = document.querySelector('input[name="link_secret"]');
  if (link && location.hash.length > 1) {
    link.value = decodeURIComponent(location.hash.slice(1));
    history.replaceState(null, "", location.pathname);
    document.getElementById("password")?.focus();
  }
}
