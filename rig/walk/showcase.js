// Starts the showcase, and ends it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const startLimit = 600_000; // ms; building the programs included

function heard(told, line) {
  const [, name, value] = line.match(/^(.+?)  +(\S+)$/) ?? [];
  if (name) told[name] = value;
}

// stands returns what a showcase that runs already has printed into a file.
export function stands(file) {
  const told = { stop: async () => {} };
  for (const line of readFileSync(file, "utf8").split("\n")) heard(told, line);
  return told;
}

// start runs bin/showcase and returns what it prints, by name: web, account, password, api, token, "long job" and so on.
export async function start(root, rate = 5) {
  const child = spawn(`${root}/bin/showcase`, ["-port", "0", "-rate", String(rate)], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (part) => { said += part; });
  const end = () => child.kill("SIGTERM");
  process.once("exit", end);
  const told = {};
  const timer = setTimeout(end, startLimit);
  for await (const line of createInterface({ input: child.stdout })) {
    heard(told, line);
    if (told["failed job"]) break; // the last line
  }
  clearTimeout(timer);
  if (!told["failed job"]) throw new Error(`the showcase did not start:\n${said}`);
  child.stdout.resume();
  return {
    ...told,
    said: () => said.split("\n").filter((l) => /ERROR|panic/.test(l)).slice(-20).join("\n"),
    stop: async () => {
      if (child.exitCode !== null) throw new Error(`the showcase ended by itself:\n${said}`);
      const ended = once(child, "exit");
      end();
      const [code] = await ended;
      if (code !== 0) throw new Error(`the showcase ended with ${code}:\n${said}`);
    },
  };
}

// ask gets a JSON answer of the API.
export async function ask(s, path) {
  const answer = await fetch(`${s.api}/api/v1${path}`, { headers: { Authorization: `Bearer ${s.token}`, ...(s.workspace && { "Kloigos-Workspace": s.workspace }) } });
  if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

// session logs somebody else of the showcase in, and returns the token; everybody has the same password.
export async function session(s, account) {
  const answer = await fetch(`${s.api}/api/v1/sessions`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ account, password: s.password }),
  });
  if (!answer.ok) throw new Error(`log ${account} in: ${answer.status} ${await answer.text()}`);
  return (await answer.json()).token;
}
