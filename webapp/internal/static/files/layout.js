// The drawn CPUs of a host as a way to fill in the form of its layout: dragging
// over them, or arrows and space, writes CPU sets into the form's fields. The
// form stays what is sent. Shares and refusals are the API's: they come with the
// preview, which the form asks for by itself.
"use strict";

(() => {
  const map = document.querySelector("[data-layout-map]");
  if (!map) return;
  const form = map.closest("form");
  const grid = map.querySelector(".cpumap");
  const cells = [...grid.querySelectorAll("[data-cpu]")];
  const place = new Map(cells.map((cell, i) => [Number(cell.dataset.cpu), i]));
  const word = map.dataset.word;
  const firstColour = Number(map.dataset.first);
  const colours = 12; // as many as the style sheet has
  const field = (name) => form.elements.namedItem(name);
  const preview = () => document.getElementById("preview");

  // An owner of a CPU is one of these, or a unit: an object with its size.
  const system = {}, nobody = {}, stays = {}, drawn = {};
  let owner = []; // one a cell
  let units = [];
  let brush = drawn;
  let stroke = null; // what is being drawn
  let writing = false;
  const undone = [];

  // CPU sets as the form writes them: 0-3, or 0,2,4, or 0-7:2.
  const parse = (text) => text.split(",").flatMap((part) => {
    const m = /^\s*(\d{1,4})(?:-(\d{1,4})(?::(\d{1,4}))?)?\s*$/.exec(part);
    if (!m) return [];
    const all = [];
    for (let n = Number(m[1]); n <= Number(m[2] ?? m[1]); n += Number(m[3] ?? 1) || 1) all.push(n);
    return all;
  });
  const setOf = (who) => {
    const numbers = cells.filter((_, i) => owner[i] === who).map((c) => Number(c.dataset.cpu)).sort((a, b) => a - b);
    const parts = [];
    for (let i = 0; i < numbers.length;) {
      let end = i;
      while (numbers[end + 1] === numbers[end] + 1) end++;
      parts.push(end > i ? numbers[i] + "-" + numbers[end] : String(numbers[i]));
      i = end + 1;
    }
    return parts.join(",");
  };
  const countOf = (who) => owner.reduce((n, o) => n + (o === who), 0);
  const many = (n) => n + (n === 1 ? " CPU" : " CPUs");
  const nameOf = (who) => {
    if (who === system) return "the system";
    if (who === nobody) return "nobody";
    return word + " " + (units.indexOf(who) + 1);
  };

  // The rows of the preview are the units that the API made of the form.
  const rows = () => [...preview().querySelectorAll("[data-cpus]")];
  const newRows = () => rows().filter((r) => !("kept" in r.dataset));
  const alike = () => form.elements.mode.value === "count";

  function give(who, numbers) {
    for (const n of numbers) if (owner[place.get(n)] === nobody) owner[place.get(n)] = who;
  }

  // Read who has what out of the form or, where the form only names how many
  // units there are, out of what the API made of it.
  function read() {
    if (alike() && preview().querySelector("[role=alert]")) return draw(); // what does not fit has no CPUs
    owner = cells.map((cell) => ("fixed" in cell.dataset ? stays : nobody));
    const lines = alike() ? newRows().map((r) => r.dataset.cpus) : field("units").value.split("\n").filter((l) => l.trim());
    const named = field("system_cpus")?.value.trim();
    if (named) give(system, parse(named));
    const before = units;
    units = lines.map((line, i) => {
      const [cpus, ...size] = line.split("=");
      const unit = before[i] ?? {};
      unit.size = size.join("=").trim();
      give(unit, parse(cpus));
      return unit;
    });
    if (!named) give(system, parse(preview().querySelector("[data-system]")?.dataset.system ?? ""));
    if (brush !== drawn && brush !== system && brush !== nobody && !units.includes(brush)) brush = drawn;
    draw();
  }

  // Write what was drawn into the form, and let it ask for the preview.
  function write() {
    form.elements.mode.value = "sets";
    const shown = units.filter((u) => countOf(u) > 0);
    field("units").value = shown.map((u) => setOf(u) + (u.size ? " = " + u.size : "")).join("\n");
    if (field("system_cpus")) field("system_cpus").value = setOf(system);
    writing = true;
    field("units").dispatchEvent(new Event("input", { bubbles: true }));
    writing = false;
  }

  const kept = () => ({ mode: form.elements.mode.value, units: field("units").value, system: field("system_cpus")?.value });
  function undo() {
    const was = undone.pop();
    if (!was) return;
    form.elements.mode.value = was.mode;
    field("units").value = was.units;
    if (field("system_cpus")) field("system_cpus").value = was.system;
    read();
    writing = true;
    field("units").dispatchEvent(new Event("input", { bubbles: true }));
    writing = false;
    say("Undone.");
  }

  function say(text) { map.querySelector("[data-say]").textContent = text; }

  function draw() {
    cells.forEach((cell, i) => {
      if (owner[i] === stays) return;
      const at = units.indexOf(owner[i]);
      const own = owner[i] === system ? "system" : at < 0 ? "none" : (firstColour + at) % colours;
      cell.className = "cell own-" + own + (stroke && i >= stroke.low && i <= stroke.high ? " touched" : "");
      cell.lastElementChild.textContent = owner[i] === system ? "sys" : at < 0 ? "–" : word[0] + (at + 1);
      cell.title = cell.dataset.place + ": " + nameOf(owner[i]);
    });
    for (const node of grid.querySelectorAll(".node")) {
      const free = [...node.querySelectorAll("[data-cpu]")].filter((c) => owner[place.get(Number(c.dataset.cpu))] === nobody).length;
      node.querySelector("[data-free]").textContent = free ? free + " left" : "";
    }
    drawBrushes();
  }

  // One button a unit, with its shares as the API computed them.
  function drawBrushes() {
    const list = map.querySelector("[data-units]");
    while (list.children.length > units.length) list.lastElementChild.remove();
    while (list.children.length < units.length) {
      list.append(map.querySelector("template").content.firstElementChild.cloneNode(true));
    }
    const made = newRows();
    const wrong = [...preview().querySelectorAll("[data-problem]")];
    units.forEach((unit, i) => {
      const b = list.children[i];
      const cpus = setOf(unit);
      const row = made[i]?.dataset.cpus === cpus ? made[i] : null;
      const bad = wrong.filter((p) => p.dataset.problem.startsWith("units[" + i + "]")).map((p) => p.textContent.trim());
      b.className = "brush own-" + (firstColour + i) % colours + (bad.length ? " bad" : "");
      b.title = bad.join(" ");
      b.querySelector("b").textContent = word + " " + (i + 1);
      b.querySelector(".muted").textContent = many(countOf(unit)) + (row ? " · " + row.dataset.shares : bad.length ? " · does not fit" : "");
      b.unit = unit;
    });
    for (const b of map.querySelectorAll("button.brush")) b.setAttribute("aria-pressed", brushOf(b) === brush);
    const count = map.querySelector("[data-brush=system] .muted");
    if (count) count.textContent = many(countOf(system));
    map.querySelector("[data-brush=nobody] .muted").textContent = many(countOf(nobody));
    map.querySelector("[data-undo]").disabled = undone.length === 0;
  }

  function brushOf(button) { return button.unit ?? { system, nobody, drawn }[button.dataset.brush]; }

  // A stroke gives all CPUs between where it began and where it is to one
  // owner, in the order in which they are drawn, like a selection of text.
  function begin(i, pointer) {
    if (owner[i] === stays) return say(cells[i].title + ", and it stays.");
    const fresh = brush === drawn && owner[i] === nobody;
    const who = brush !== drawn ? brush : fresh ? { size: "" } : owner[i];
    stroke = { pointer, from: i, low: i, high: i, who, owner: [...owner], units: [...units], form: kept() };
    if (fresh) units.push(who);
  }

  function extend(to) {
    if (!stroke || to === stroke.to) return;
    stroke.to = to;
    stroke.low = Math.min(stroke.from, to);
    stroke.high = Math.max(stroke.from, to);
    owner = stroke.owner.map((o, i) => (i >= stroke.low && i <= stroke.high && o !== stays ? stroke.who : o));
    draw();
    write();
  }

  function end() {
    const { who, form: was } = stroke;
    stroke = null;
    undone.push(was);
    units = units.filter((u) => countOf(u) > 0);
    draw();
    say(nameOf(who) + ": " + (setOf(who) || "no CPU") + ", " + many(countOf(who)) + ".");
  }

  function cancel() {
    const { owner: o, units: u, form: was, to } = stroke;
    stroke = null;
    [owner, units] = [o, u];
    if (to !== undefined) { undone.push(was); undo(); }
    draw();
  }

  const cellAt = (e) => place.get(Number(document.elementFromPoint(e.clientX, e.clientY)?.closest?.("[data-cpu]")?.dataset.cpu));

  grid.addEventListener("pointerdown", (e) => {
    const cell = e.target.closest("[data-cpu]");
    if (!cell || e.button !== 0 || stroke) return;
    const i = place.get(Number(cell.dataset.cpu));
    focusOn(i);
    begin(i, e.pointerId);
    if (!stroke) return;
    e.preventDefault();
    grid.setPointerCapture(e.pointerId);
    // A finger may be about to scroll: nothing is drawn before it moves along a row.
    if (e.pointerType !== "touch") extend(i);
  });
  grid.addEventListener("pointermove", (e) => {
    if (stroke?.pointer !== e.pointerId) return;
    const i = cellAt(e);
    if (i !== undefined) extend(i);
  });
  grid.addEventListener("pointerup", (e) => {
    if (stroke?.pointer !== e.pointerId) return;
    if (stroke.to === undefined) extend(stroke.from);
    end();
  });
  grid.addEventListener("pointercancel", (e) => { if (stroke?.pointer === e.pointerId) cancel(); });

  // One cell is in the order of the Tab key; arrows lead to the others.
  let current = 0;
  const focusOn = (i) => cells[i].focus();

  // The nearest cell in the row above or below, across nodes and sockets.
  function beside(i, down) {
    const from = cells[i].getBoundingClientRect();
    let best, least = Infinity;
    cells.forEach((cell, j) => {
      const to = cell.getBoundingClientRect();
      const dy = down ? to.top - from.top : from.top - to.top;
      const far = dy * 4 + Math.abs(to.left - from.left);
      if (dy > from.height / 2 && far < least) [best, least] = [j, far];
    });
    return best;
  }

  grid.addEventListener("focusin", (e) => {
    const i = place.get(Number(e.target.dataset.cpu));
    if (i === undefined || i === current) return;
    cells[current].tabIndex = -1;
    current = i;
    cells[i].tabIndex = 0;
  });
  grid.addEventListener("keydown", (e) => {
    const cell = e.target.closest("[data-cpu]");
    if (!cell || e.ctrlKey || e.metaKey || e.altKey) return;
    const last = cells.length - 1;
    const to = {
      ArrowLeft: () => Math.max(current - 1, 0), ArrowRight: () => Math.min(current + 1, last),
      ArrowUp: () => beside(current, false), ArrowDown: () => beside(current, true), Home: () => 0, End: () => last,
    }[e.key]?.();
    if (to !== undefined) {
      focusOn(to);
      extend(to);
    } else if (e.key === " " || e.key === "Enter") {
      if (stroke) end();
      else {
        begin(current);
        if (stroke) { extend(current); say("Drawing " + nameOf(stroke.who) + " from CPU " + cell.dataset.cpu + ". Arrows extend it, space ends it, Escape takes it back."); }
      }
    } else if (e.key === "Escape" && stroke) {
      cancel();
      say("Taken back.");
    } else if (!e.key.startsWith("Arrow")) return;
    e.preventDefault();
  });
  grid.addEventListener("focusout", (e) => { if (stroke && stroke.pointer === undefined && !grid.contains(e.relatedTarget)) end(); });

  map.addEventListener("click", (e) => {
    const b = e.target.closest("button.brush");
    if (b) { brush = brushOf(b); drawBrushes(); }
    if (e.target.closest("[data-undo]")) undo();
    if (e.target.closest("[data-clear]")) {
      undone.push(kept());
      owner = owner.map((o) => (o === stays || o === system ? o : nobody));
      [units, brush] = [[], drawn];
      write();
      draw();
    }
  });

  // What is wrong is said where it is: at the field, and at the unit.
  function mark() {
    for (const p of form.querySelectorAll("[data-live-problem]")) p.remove();
    for (const f of form.querySelectorAll("[data-live-invalid]")) {
      f.removeAttribute("aria-invalid");
      delete f.dataset.liveInvalid;
    }
    for (const p of preview().querySelectorAll("[data-problem]")) {
      const input = field(p.dataset.problem.replace(/[[.].*$/, ""));
      const box = input?.closest?.(".field");
      if (!box || box.querySelector(".problem:not([data-live-problem])")) continue;
      input.setAttribute("aria-invalid", "true");
      input.dataset.liveInvalid = "";
      const note = document.createElement("p");
      note.className = "problem";
      note.dataset.liveProblem = "";
      note.textContent = p.textContent.trim();
      box.append(note);
    }
  }

  form.addEventListener("input", () => { if (!writing) read(); });
  document.addEventListener("htmx:after:swap", () => {
    mark();
    if (stroke) drawBrushes();
    else read();
  });

  for (const drawing of preview().querySelectorAll(".cpumap")) drawing.hidden = true; // this one shows the same
  map.hidden = false;
  cells[0].tabIndex = 0;
  read();
})();
