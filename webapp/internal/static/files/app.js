// What makes the pages live. Every page reads and every form works without it.
"use strict";

// Regions with hx-trigger="kl:tick from:body" are brought up to date while the
// page is looked at. htmx's own polling would go on in hidden tabs.
const tick = 4000;
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

const offline = (is) => {
  const bar = document.getElementById("offline");
  if (bar) bar.hidden = !is;
};
document.addEventListener("htmx:after:request", (e) => offline(e.detail.ctx.response.status >= 502));
document.addEventListener("htmx:error", (e) => { if (!e.detail.ctx?.response) offline(true); });
document.addEventListener("htmx:after:swap", () => enhance(document));

// Buttons that only scripts can serve are hidden until here.
function enhance(root) {
  if (navigator.clipboard) for (const b of root.querySelectorAll("button[data-copy]")) b.hidden = false;
  for (const b of root.querySelectorAll("button[data-back]")) b.hidden = history.length < 2;
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

// No form is sent twice by a double click.
document.addEventListener("submit", (e) => {
  if (e.defaultPrevented || e.target.method !== "post") return;
  if (e.target.dataset.sent) { e.preventDefault(); return; }
  e.target.dataset.sent = "1";
  addEventListener("pageshow", () => { delete e.target.dataset.sent; }, { once: true });
});

// Filters apply as soon as one is chosen.
document.addEventListener("change", (e) => {
  const form = e.target.closest("form[data-auto-submit]");
  if (form && e.target.matches("select")) form.requestSubmit();
});

// The log of a job: rendered pieces come over an event stream. Its ids are
// sequences, so a stream that broke goes on where it was, from any web app.
function follow(list) {
  const box = document.getElementById("logbox");
  const state = document.getElementById("job-state");
  const button = document.getElementById("follow");
  const quiet = document.getElementById("log-quiet");
  let last = list.dataset.after;
  let wait = 500;
  // Whoever is at the end of the log stays there; whoever scrolled up is left alone.
  let following = location.hash === "";
  const toEnd = () => { if (following) box.scrollTop = box.scrollHeight; };
  const show = () => button.setAttribute("aria-pressed", following);
  box.addEventListener("scroll", () => {
    following = box.scrollTop + box.clientHeight > box.scrollHeight - 40;
    show();
  }, { passive: true });
  button.addEventListener("click", () => { following = true; toEnd(); show(); });
  button.hidden = false;
  const connect = () => {
    const stream = new EventSource(list.dataset.stream + "?after=" + last);
    stream.addEventListener("open", () => { wait = 500; offline(false); });
    stream.addEventListener("log", (e) => {
      const stay = following;
      last = e.lastEventId || last;
      list.insertAdjacentHTML("beforeend", e.data);
      if (quiet) quiet.hidden = true;
      following = stay;
      toEnd();
    });
    stream.addEventListener("state", (e) => {
      if (state.querySelector("details.confirm[open]")) return;
      state.innerHTML = e.data;
      enhance(state);
    });
    stream.addEventListener("end", () => { stream.close(); button.hidden = true; });
    stream.addEventListener("gone", () => { stream.close(); location.reload(); });
    stream.addEventListener("error", () => {
      offline(true);
      if (stream.readyState !== EventSource.CLOSED) return; // it connects again by itself
      setTimeout(connect, wait);
      wait = Math.min(wait * 2, 10000);
    });
    addEventListener("pagehide", () => stream.close(), { once: true });
  };
  toEnd();
  show();
  connect();
}

enhance(document);
const log = document.querySelector("[data-stream]");
if (log) follow(log);
const wrong = document.getElementById("wrong");
if (wrong) wrong.focus();
