// The log of a job. Lines are numbered without gaps, so the log is cut into
// windows of a fixed size; each has its place from the beginning, and only those
// near what is seen hold their lines. What is live comes over an event stream.
"use strict";
{
const size = 200; // lines of a window, as the web app cuts them
const keepAll = 2000; // a log up to here stays as it was loaded
const foundMost = 4000; // lines of what was found that are kept
const printMost = 5000;
const near = "1500px 0px";

const box = document.getElementById("logbox");
const first = document.getElementById("log");
const form = document.getElementById("log-form");
const followButton = document.getElementById("follow");
const toFailure = document.getElementById("to-failure");
const quiet = document.getElementById("log-quiet");
const more = document.getElementById("log-more");
const outline = document.getElementById("outline");
const job = box.dataset.job;

const all = document.createElement("div"); // holds the windows
const windows = [];
const folded = new Set();
let newest = Number(box.dataset.newest);
let lineHeight = 24; // of a line that is away, as those that were seen are on average
let following = false;
let live = false; // more may come
let found = null; // what is shown instead of all: { list, query, last, busy, done }

// ask fetches lines. null: not now; the page is loaded again where the session
// is over.
async function ask(query, signal) {
  try {
    const answer = await fetch(job + "/lines?" + query, { signal });
    if (answer.redirected || answer.status === 404 || answer.status === 403) { location.reload(); return null; }
    if (!answer.ok) throw new Error(answer.status);
    const html = await answer.text();
    offline(false);
    return {
      html, last: Number(answer.headers.get("X-Log-Last")), newest: Number(answer.headers.get("X-Log-Newest")),
      complete: answer.headers.get("X-Log-Complete") === "true",
    };
  } catch {
    if (!signal?.aborted) offline(true);
    return null;
  }
}

// room is how many lines fit into sight, and some more. While the end is
// followed, what is further up is built only when it stays near.
let room = 100;
new ResizeObserver(() => { room = Math.ceil(box.clientHeight / 20) + 20; }).observe(box);
const atEnd = (w) => (w.n + 1) * size > newest - room;

const numberOf = (li) => Number(li.id.slice(1));
const lastOf = (w) => (w.list.lastElementChild ? numberOf(w.list.lastElementChild) : w.n * size);
const due = (w) => Math.min(newest, (w.n + 1) * size);
const whole = (w) => lastOf(w) >= due(w);

const seen = new IntersectionObserver((changes) => {
  const left = [];
  for (const c of changes) {
    const w = windows[Number(c.target.dataset.n)];
    w.near = c.isIntersecting;
    clearTimeout(w.soon);
    // Not what is only passed by, whether one scrolls or the log does.
    if (w.near) w.soon = setTimeout(() => { if (w.near) load(w); }, following && !atEnd(w) ? 1000 : w.here ? 0 : 50);
    else left.push(w);
  }
  leave(left);
}, { root: box, rootMargin: near });

function add(list) {
  const w = { n: windows.length, list, near: false, here: false, loading: null };
  list.className = "log";
  list.dataset.n = w.n;
  windows.push(w);
  all.append(list);
  return w;
}

// reach makes room for all lines that there are.
function reach() {
  while (windows.length * size < newest) away(add(document.createElement("ol")));
  const last = windows[windows.length - 1];
  if (last && !last.here) away(last);
  count();
}

function away(w) {
  w.here = false;
  if (!w.list.firstElementChild && w.list.isConnected && w.n < windows.length) w.list.style.height = Math.round((due(w) - w.n * size) * lineHeight) + "px";
  if (!w.watched) { w.watched = true; seen.observe(w.list); }
}

let counting = 0;
function count() {
  counting ||= requestAnimationFrame(() => {
    counting = 0;
    if (newest) document.getElementById("log-count").textContent = newest.toLocaleString("en") + (newest === 1 ? " line" : " lines");
  });
}

// load fills a window, or what it lacks of its end.
function load(w) {
  if (w.loading) return w.loading;
  if (whole(w)) return Promise.resolve();
  w.abort = new AbortController();
  w.loading = (async () => {
    const from = w.here ? lastOf(w) : w.n * size;
    const got = await ask("after=" + from + "&limit=" + ((w.n + 1) * size - from), w.abort.signal);
    w.loading = null;
    if (!got) { if (w.near) w.soon = setTimeout(() => { if (w.near) load(w); }, 2000); return; }
    if (lastOf(w) > from) return load(w); // the stream was faster
    newest = Math.max(newest, got.newest);
    w.list.insertAdjacentHTML("beforeend", got.html);
    arrived(w);
    reach();
    if (got.last > from) return load(w); // a part: its lines were long
  })();
  return w.loading;
}

function arrived(w) {
  if (!w.here) w.list.style.height = "";
  w.here = true;
  dress(w.list, w.dressed);
  w.dressed = w.list.lastElementChild;
  if (w.dressed) quiet.hidden = true;
}

// leave empties windows that are far from what is seen, unless someone is at
// them. All are measured first: each change would have the next measured anew.
function leave(far) {
  const selection = document.getSelection();
  const empty = [];
  for (const w of far) {
    w.abort?.abort();
    if (!w.here || newest <= keepAll || w.list.contains(document.activeElement) || w.list.querySelector("details[data-opened]")) continue;
    if (selection && !selection.isCollapsed && w.list.contains(selection.anchorNode)) continue;
    empty.push([w, w.list.offsetHeight / w.list.childElementCount]);
  }
  for (const [w, each] of empty) {
    if (each) lineHeight = lineHeight * .8 + each * .2;
    w.list.replaceChildren();
    w.here = false;
    w.dressed = null;
    w.list.style.height = Math.round((due(w) - w.n * size) * (each || lineHeight)) + "px";
  }
}

// Tasks and plays can be folded; what failed stays in sight. Lines up to one
// that was dressed already are left as they are.
function dress(list, dressed) {
  const fresh = [];
  for (let li = list.lastElementChild; li && li !== dressed; li = li.previousElementSibling) fresh.push(li);
  for (const li of fresh) {
    if (!li.classList.contains("k-task") && !li.classList.contains("k-play")) continue;
    const mark = li.querySelector(".mark");
    if (!mark || mark.firstElementChild || !li.querySelector(".what")) continue;
    const b = document.createElement("button");
    b.type = "button";
    b.className = "fold";
    b.setAttribute("aria-label", "Fold " + li.querySelector(".what").textContent.trim());
    mark.append(b);
  }
  refold(fresh);
}

function refold(lines) {
  for (const li of lines) {
    const head = li.classList.contains("k-task") ? "t" : li.classList.contains("k-play") ? "p" : "";
    const inPlay = head !== "p" && folded.has("p" + li.dataset.p);
    const inTask = !head && folded.has("t" + li.dataset.t);
    li.classList.toggle("folded", (inPlay || inTask) && !li.classList.contains("k-failed"));
    if (head) li.querySelector(".fold")?.setAttribute("aria-expanded", !folded.has(head + li.dataset[head]));
  }
}

function refoldAll() {
  for (const w of windows) if (w.here) refold(w.list.children);
}

// go brings a line into sight, wherever in the log it is.
async function go(number) {
  if (!number || number > newest) return;
  leaveFound();
  form.elements.q.value = form.elements.show.value = "";
  follow(false);
  reach();
  const w = windows[Math.floor((number - 1) / size)];
  w.list.scrollIntoView({ block: "start" });
  await load(w);
  const li = document.getElementById("L" + number);
  if (!li) return;
  if (li.classList.contains("folded")) {
    folded.delete("p" + li.dataset.p);
    folded.delete("t" + li.dataset.t);
    refoldAll();
  }
  for (const old of box.querySelectorAll("li.target")) { old.classList.remove("target"); old.removeAttribute("aria-current"); }
  li.classList.add("target");
  li.setAttribute("aria-current", "true");
  const show = () => li.scrollIntoView({ block: "center" });
  show();
  li.querySelector(".no").focus({ preventScroll: true });
  await Promise.all([windows[w.n - 1], windows[w.n + 1]].filter(Boolean).map(load));
  show();
}

const wanted = () => (/^#L(\d+)$/.exec(location.hash) || [])[1];

function follow(on) {
  following = on;
  followButton?.setAttribute("aria-pressed", on);
  box.style.overflowAnchor = on ? "none" : ""; // the end is held by hand
  if (on) box.scrollTop = box.scrollHeight;
  else nearby();
}

// nearby loads what was passed over.
function nearby() {
  for (const w of windows) if (w.near) load(w);
}

// What is found stands in a list of its own, which grows as it is read.
function find(query, list) {
  leaveFound();
  follow(false);
  all.hidden = true;
  found = { query, list: list || document.createElement("ol"), last: 0, busy: false, done: false };
  found.list.className = "log";
  box.insertBefore(found.list, more);
  if (list) { dress(list); mark(); }
  document.getElementById("log-clear").hidden = false;
  quiet.hidden = true;
  box.scrollTop = 0;
  if (list?.lastElementChild) found.last = numberOf(list.lastElementChild);
  findMore();
}

async function findMore() {
  const f = found;
  if (!f || f.busy || f.done) return;
  f.busy = true;
  more.hidden = false;
  more.textContent = "Looking …";
  const got = await ask(f.query + "&after=" + f.last);
  f.busy = false;
  if (f !== found) return;
  if (!got) { more.textContent = "Could not look further; it goes on when you scroll."; return; }
  f.last = got.last;
  newest = Math.max(newest, got.newest);
  f.list.insertAdjacentHTML("beforeend", got.html);
  dress(f.list);
  mark();
  const lines = f.list.childElementCount;
  f.done = got.last >= got.newest || lines >= foundMost;
  if (lines >= foundMost) more.textContent = "These are the first " + lines.toLocaleString("en") + "; search for more of the text to see fewer.";
  else if (f.done) more.textContent = lines ? lines.toLocaleString("en") + (lines === 1 ? " line fits." : " lines fit.") : "No line matches.";
  else if (box.scrollHeight <= box.clientHeight * 2) findMore();
  else more.textContent = lines.toLocaleString("en") + " lines so far.";
}

function leaveFound() {
  if (!found) return;
  found.list.remove();
  found = null;
  more.hidden = true;
  all.hidden = false;
  document.getElementById("log-clear").hidden = true;
  CSS.highlights?.delete("found");
}

// mark shows where the text that was searched stands.
function mark() {
  const text = form.elements.q.value.trim().toLowerCase();
  if (!CSS.highlights || !text || !found) return;
  const ranges = [];
  const walk = document.createTreeWalker(found.list, NodeFilter.SHOW_TEXT);
  while (walk.nextNode() && ranges.length < 2000) {
    const node = walk.currentNode, inIt = node.data.toLowerCase();
    for (let at = inIt.indexOf(text); at >= 0; at = inIt.indexOf(text, at + text.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, Math.min(at + text.length, node.length));
      ranges.push(range);
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

// show does what the address says.
function show() {
  const q = new URLSearchParams(location.search);
  form.elements.q.value = q.get("q") || "";
  form.elements.show.value = q.get("show") || "";
  const query = new URLSearchParams([...q].filter(([k, v]) => (k === "q" || k === "show") && v)).toString();
  if (query && !wanted()) { if (query !== found?.query) find(query); return; }
  leaveFound();
  if (wanted()) go(Number(wanted()));
}

form.addEventListener("submit", (e) => {
  e.preventDefault();
  const query = new URLSearchParams([...new FormData(form)].filter(([, v]) => v.trim())).toString();
  history.pushState(null, "", job + (query ? "?" + query : ""));
  show();
});
form.elements.show.addEventListener("change", () => form.requestSubmit());
document.getElementById("log-clear").addEventListener("click", (e) => {
  e.preventDefault();
  history.pushState(null, "", job);
  show();
});
addEventListener("popstate", show);

document.getElementById("job-log").addEventListener("click", (e) => {
  const line = e.target.closest('a[href^="#L"]');
  if (line) {
    e.preventDefault();
    const to = line.getAttribute("href");
    if (to !== location.hash || location.search) history.pushState(null, "", job + to);
    go(Number(to.slice(2)));
    return;
  }
  const b = e.target.closest("button.fold");
  if (!b) return;
  const li = b.closest("li"), k = li.classList.contains("k-task") ? "t" + li.dataset.t : "p" + li.dataset.p;
  if (!folded.delete(k)) folded.add(k);
  refoldAll();
  if (found) refold(found.list.children);
});
box.addEventListener("toggle", (e) => e.target.toggleAttribute("data-opened", e.target.open), true);
box.addEventListener("scroll", () => {
  if (found) { if (box.scrollTop + box.clientHeight > box.scrollHeight - 800) findMore(); return; }
  const away = box.scrollTop + box.clientHeight < box.scrollHeight - 8;
  if (following && away && performance.now() - turned < 1000) follow(false);
  else if (!following && live && !away && !touched) follow(true);
}, { passive: true });

// Only who scrolls up leaves the end: what comes fast outruns it for a moment.
let turned = -Infinity, touched = false;
const turn = () => { turned = performance.now(); };
box.addEventListener("wheel", (e) => { if (e.deltaY < 0) turn(); }, { passive: true });
box.addEventListener("touchmove", turn, { passive: true });
box.addEventListener("keydown", (e) => { if (["ArrowUp", "PageUp", "Home"].includes(e.key)) turn(); });
box.addEventListener("pointerdown", (e) => { if (e.target === box) { touched = true; turn(); } });
box.addEventListener("pointermove", () => { if (touched) turn(); }, { passive: true });
addEventListener("pointerup", () => { touched = false; });

// Whoever follows stays at the end whatever grows above it.
new ResizeObserver(() => { if (following && !found) box.scrollTop = box.scrollHeight; }).observe(all);

document.getElementById("print").addEventListener("click", async () => {
  if (newest > printMost) { location.assign(job + "/log.txt"); return; }
  if (!found) await Promise.all(windows.map(load));
  print();
});

// The stream: lines (the id is the last one's number), and the job's state.
function stream() {
  const state = document.getElementById("job-state");
  let wait = 500;
  let come = null; // the newest state that is not drawn yet: nobody's focus or confirmation is taken away under their hands
  const draw = () => {
    if (come === null || state.querySelector("details.confirm[open]") || state.contains(document.activeElement)) return;
    state.innerHTML = come;
    come = null;
    enhance(state);
    toFailure.hidden = !state.querySelector(".note-bad");
  };
  const later = () => setTimeout(draw); // when the focus is where it goes to
  state.addEventListener("focusout", later);
  state.addEventListener("toggle", later, true);
  const connect = () => {
    const events = new EventSource(job + "/stream?after=" + newest);
    events.addEventListener("open", () => { wait = 500; offline(false); });
    events.addEventListener("log", (e) => take(Number(e.lastEventId), e.data));
    events.addEventListener("state", (e) => { come = e.data; draw(); });
    events.addEventListener("end", () => {
      events.close();
      follow(following); // to the last line
      live = false;
      if (followButton) followButton.hidden = true;
      outlineDue = true;
    });
    events.addEventListener("gone", () => { events.close(); location.reload(); });
    events.addEventListener("error", () => {
      offline(true);
      if (events.readyState !== EventSource.CLOSED) return; // it connects again by itself
      setTimeout(connect, wait);
      wait = Math.min(wait * 2, 10000);
    });
    addEventListener("pagehide", () => events.close(), { once: true });
  };
  live = true;
  followButton?.classList.remove("unready");
  followButton?.addEventListener("click", () => {
    if (found) { history.pushState(null, "", job); show(); }
    follow(true);
  });
  connect();
}

// take keeps lines until the next frame; those that come while nobody looks are
// loaded when somebody does.
let pending = [], drawing = 0;
function take(last, html) {
  if (last <= newest) return;
  newest = last;
  outlineDue = true;
  if (!document.hidden) pending.push(html);
  drawing ||= requestAnimationFrame(draw);
}

document.addEventListener("visibilitychange", () => { if (!document.hidden) nearby(); });

// draw puts lines where they belong, if their window is wanted: the others are
// loaded when they are looked at. Of what comes faster than anybody reads, only
// the end is built.
function draw() {
  drawing = 0;
  let html = pending.join("");
  pending = [];
  reach();
  if (following && !found) {
    const start = windows.find(atEnd).n * size + 1, at = html.indexOf('<li id="L' + start + '"');
    if (at > 0) html = html.slice(at);
  } else if (!windows.some((w) => w.here || w.near)) return;
  const parts = document.createElement("template");
  parts.innerHTML = html;
  const grown = new Map(); // window -> its new lines
  for (const li of [...parts.content.children]) {
    const n = numberOf(li), w = windows[Math.floor((n - 1) / size)];
    if (!w || !(w.here || w.near || following && atEnd(w))) continue;
    const lines = grown.get(w) || [];
    if (n === lastOf(w) + lines.length + 1) { lines.push(li); grown.set(w, lines); }
  }
  for (const [w, lines] of grown) {
    w.list.append(...lines);
    w.abort?.abort();
    arrived(w);
  }
}

// The outline is asked for again when there is more to tell, and the less often
// the longer it takes.
let outlineDue = false, asked = performance.now(), rest = 4000;
function outlineCame() {
  const matrix = outline.querySelector(".matrix");
  if (!matrix) return;
  rest = Math.max(4000, (performance.now() - asked) * 20, matrix.querySelectorAll("tr").length * 30);
  outline.parentElement.classList.toggle("logsplit-wide", matrix.classList.contains("matrix-wide"));
  if (Number(matrix.dataset.failed)) { toFailure.href = "#L" + matrix.dataset.failed; toFailure.hidden = false; }
}
document.addEventListener("htmx:after:swap", outlineCame);
outlineCame(); // before this script did, perhaps
setInterval(() => {
  if (!outlineDue || document.visibilityState !== "visible" || performance.now() - asked < rest) return;
  outlineDue = false;
  asked = performance.now();
  outline.dispatchEvent(new Event("kl:outline"));
}, 1000);

// What the web app drew becomes the first window, or what was found.
const given = Number(box.dataset.after);
const filtered = new URLSearchParams(location.search);
box.insertBefore(all, more);
if ((filtered.get("q") || filtered.get("show")) && !wanted()) {
  reach();
  find(new URLSearchParams([...filtered].filter(([k, v]) => (k === "q" || k === "show") && v)).toString(), first);
} else {
  if (given % size) first.replaceChildren(); // it begins within a window: that is loaded
  while (windows.length < Math.floor(given / size)) away(add(document.createElement("ol")));
  const w = add(first);
  if (first.firstElementChild) arrived(w);
  seen.observe(first);
  w.watched = true;
  reach();
  if (wanted() || given) go(Number(wanted()) || given + 1);
}
document.getElementById("print").classList.remove("unready");
if ("stream" in box.dataset) {
  stream();
  if (!wanted() && !given && !found) follow(true);
}
}
