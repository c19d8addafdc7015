"use strict";
// Elements remembers credentials in localStorage. Here nothing outlives the page.
for (const name of ["localStorage", "sessionStorage"]) {
  const kept = new Map();
  Object.defineProperty(window, name, {
    value: {
      getItem: (k) => (kept.has(String(k)) ? kept.get(String(k)) : null),
      setItem: (k, v) => { kept.set(String(k), String(v)); },
      removeItem: (k) => { kept.delete(String(k)); },
      clear: () => kept.clear(),
      key: (i) => [...kept.keys()][i] ?? null,
      get length() { return kept.size; },
    },
  });
}

let token = "";
const plain = window.fetch.bind(window);
// Requests that are tried out carry the token, and only to this origin, unless
// another was typed in. Elements sends "Bearer 123" where nothing was.
window.fetch = (input, init) => {
  const request = new Request(input, init);
  if (token && new URL(request.url).origin === location.origin && !(request.headers.get("Authorization") ?? "").startsWith("Bearer kl_")) {
    request.headers.set("Authorization", "Bearer " + token);
  }
  return plain(request);
};

const ask = document.getElementById("ask");
const problem = document.getElementById("problem");

ask.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.textContent = "";
  token = document.getElementById("token").value.trim();
  try {
    const answer = await window.fetch("openapi.json");
    if (!answer.ok) {
      problem.textContent = answer.status === 401 ? "This token is not valid, or no longer." : "The backend answered " + answer.status + ".";
      token = "";
      return;
    }
    show(await answer.text());
  } catch {
    problem.textContent = "The backend does not answer.";
  }
});

function show(text) {
  const script = document.createElement("script");
  script.src = "docs/elements.js";
  script.onload = () => {
    const page = document.createElement("elements-api");
    page.setAttribute("router", "hash");
    page.setAttribute("layout", "sidebar");
    page.apiDescriptionDocument = text;
    document.getElementById("docs").append(page);
    document.getElementById("token").value = "";
    ask.hidden = true;
  };
  script.onerror = () => { problem.textContent = "The documentation's script did not load."; };
  document.head.append(script);
}
