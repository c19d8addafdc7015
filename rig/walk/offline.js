// The backend goes away and comes back: a web app of the walk's own, behind a door that can be shut.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import net from "node:net";

const freePort = async () => {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
};

// A door to a server: shut, it refuses connections and ends those that there are.
class Door {
  constructor(url) {
    this.to = new URL(url);
    this.inside = new Set();
  }

  async open(port = 0) {
    this.server = net.createServer((from) => {
      const to = net.connect(Number(this.to.port), this.to.hostname);
      for (const [one, other] of [[from, to], [to, from]]) {
        this.inside.add(one);
        one.on("error", () => other.destroy()).on("close", () => { this.inside.delete(one); other.destroy(); });
        one.pipe(other);
      }
    }).listen(port, "127.0.0.1");
    await once(this.server, "listening");
    this.port = this.server.address().port;
  }

  async shut() {
    const closed = once(this.server, "close");
    this.server.close();
    for (const c of this.inside) c.destroy();
    await closed;
  }
}

export async function offline({ s, open, root }) {
  const door = new Door(s.api), port = await freePort(), web = `http://127.0.0.1:${port}`;
  await door.open();
  const app = spawn(`${root}/bin/kloigos-webapp`, [], { stdio: "ignore", env: {
    KLOIGOS_WEB_LISTEN: `127.0.0.1:${port}`, KLOIGOS_API_URL: `http://127.0.0.1:${door.port}`, KLOIGOS_WEB_INSECURE_COOKIE: "true" } });
  const end = () => app.kill();
  process.once("exit", end);
  try {
    for (let n = 0; ; n++) {
      if (await fetch(`${web}/web/healthz`).then((r) => r.ok, () => false)) break;
      assert.ok(n < 300, "the web app does not start");
      await new Promise((r) => setTimeout(r, 100));
    }
    const page = await open({ baseURL: web });
    page.setDefaultTimeout(60_000); // a page asks the API more than once before it gives up
    await page.goto("/hosts");
    const bar = page.locator("#offline");
    assert.equal(await bar.isVisible(), false);
    await door.shut();
    await bar.waitFor();
    assert.ok(await page.locator("main tbody tr").count() > 10, "what was there is still there");
    const other = await open({ baseURL: web });
    other.setDefaultTimeout(60_000);
    assert.equal((await other.goto("/jobs")).status(), 502);
    await other.getByText("The API can't be reached").first().waitFor();
    await door.open(door.port);
    await bar.waitFor({ state: "hidden" });
    await other.getByRole("link", { name: "Try again" }).click();
    await other.locator("main tbody tr").first().waitFor();
  } finally {
    end();
    process.off("exit", end);
    if (door.server.listening) await door.shut();
  }
}
