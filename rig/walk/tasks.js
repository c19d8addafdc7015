// What a person comes for, done by clicks and keys on the pages of a showcase.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { ask } from "./showcase.js";
import { moved, over, settled } from "./look.js";
import { offline } from "./offline.js";

const key = `ssh-ed25519 ${Buffer.concat([Buffer.from("0000000b", "hex"), Buffer.from("ssh-ed25519"), Buffer.from("00000020", "hex"), randomBytes(32)]).toString("base64")} walk@laptop`;
const noScripts = { javaScriptEnabled: false };
const nobody = { storageState: undefined };

const says = async (where, text) => { await where.getByText(text).first().waitFor(); };
const heading = (page) => page.locator("h1").textContent().then((t) => t.trim());
const row = (page) => page.locator("main tbody tr").first();
const firstName = (page) => row(page).locator("a.name").textContent();
const listed = async (page) => { await row(page).waitFor(); return page.locator("main tbody tr").count(); };

// prepare makes what pages need and the showcase has not: a second version of a playbook, and a plan.
export async function prepare({ open }) {
  const page = await open(noScripts);
  await page.goto("/playbooks/host_initialize/versions/1/edit?path=playbook.yml");
  const area = page.getByLabel("Text");
  await area.fill((await area.inputValue()) + "# walked\n");
  await page.getByRole("button", { name: "Check and store" }).click();
  await page.waitForURL("**/versions/2*");
  assert.match(await heading(page), /v2/);
  await page.goto("/hosts?state=ready");
  await page.locator("td a.name").first().click();
  await page.waitForURL("**/hosts/*");
  const host = await heading(page);
  await page.getByRole("button", { name: /Create a plan first.*Initialize/ }).click();
  await page.waitForURL("**/plans/*");
  return { plan: new URL(page.url()).pathname, names: [host] };
}

async function logIn(page, s) {
  await page.getByLabel("Account").fill(s.account);
  await page.getByLabel("Password").fill(s.password);
  await page.keyboard.press("Enter");
}

// tabTo presses a key until what it looks for has the focus, which must be seen there.
async function tabTo(page, what, key = "Tab") {
  for (let n = 0; n < 200; n++) {
    await page.keyboard.press(key);
    if (await page.evaluate((what) => document.activeElement.matches(what), what)) {
      assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none", `the focus on ${what} is not seen`);
      return;
    }
  }
  assert.fail(`${what} is not reached by ${key}`);
}

// field returns the lines of a field of the form of a layout.
const field = (page, name) => page.evaluate((name) => document.querySelector("[data-layout-map]").closest("form").elements.namedItem(name).value.split("\n").filter(Boolean), name);

// goBackAndForth turns over pages of units: what was on one is there when one comes back.
async function goBackAndForth(page) {
  const turn = async (to) => {
    await Promise.all([page.waitForEvent("framenavigated"), page.getByRole("link", { name: `${to} page` }).click()]);
    return firstName(page);
  };
  await page.goto("/compute-units");
  const first = await firstName(page), second = await turn("Next"), third = await turn("Next");
  assert.equal(new Set([first, second, third]).size, 3);
  assert.equal(await turn("Previous"), second);
  assert.equal(await turn("Next"), third);
  await turn("Previous");
  assert.equal(await turn("Previous"), first);
  assert.equal(await page.getByRole("link", { name: "Previous page" }).count(), 0);
}

// lists are those with more than one page in the showcase, each with its longest filter.
const lists = ["/hosts", "/compute-units", "/allocations", "/jobs", "/jobs?playbook=unit_allocate&state=ended&version=1", "/address-pool", "/events"];

export const tasks = {
  // From the login page to the command that one logs in with. The showcase has neither this host nor a backend that works,
  // and so the way goes on with a host and an allocation that are there.
  async "find the way as a new user"({ s, open }) {
    const page = await open(nobody);
    await page.goto("/");
    await logIn(page, s);
    await page.getByRole("link", { name: "Register a host" }).click();
    await says(page, "Before you start");
    await page.locator("#name").fill("newcomer-1");
    await page.locator("#address").fill("not an address");
    await page.getByRole("button", { name: "Register and probe" }).click();
    await page.locator("#address-problem").waitFor();
    assert.equal(await page.locator("#name").inputValue(), "newcomer-1");
    await page.locator("#address").fill("192.0.2.98"); // where there is none
    await page.getByRole("button", { name: "Register and probe" }).click();
    await page.waitForURL("**/hosts/*/setup*");
    await says(page, "newcomer-1");
    const job = page.getByRole("link", { name: /Follow/ }).first();
    await job.click();
    await page.waitForURL("**/jobs/*");
    await says(page.locator("#job-state"), "Waiting for a worker.");
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await says(page, "Jobs do not start");
    await page.getByRole("link", { name: "Jobs do not start" }).click();
    await says(page, "control-1/4711");

    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.getByRole("link", { name: "Allocate a unit" }).click();
    await page.getByLabel("SSH public keys").fill(key);
    await page.getByLabel("Login user").fill("newcomer");
    await page.getByRole("button", { name: "Allocate", exact: true }).click();
    await page.waitForURL(/\/jobs\/[0-9a-f-]{36}/);
    await page.getByRole("link", { name: "newcomer" }).click();
    await page.waitForURL("**/allocations/*");
    await says(page.locator(".head .state").first(), "allocating");
    await page.getByRole("link", { name: "Allocations", exact: true }).first().click();
    await page.waitForURL("**/allocations");
    await page.getByLabel("State").selectOption("allocated");
    await page.waitForURL("**state=allocated**");
    await row(page).locator("a.name").click();
    await says(page, "Log in");
    assert.match(await page.locator("code", { hasText: /^ssh / }).first().textContent(), /^ssh .*\S+@\S+$/);
  },

  async "turn over the pages of every list, on every screen"({ open }) {
    for (const [width, height] of [[390, 844], [1280, 800], [2560, 1440]]) {
      const page = await open({ viewport: { width, height } });
      for (const path of lists) {
        const first = () => page.locator("main tbody tr").first().textContent();
        const what = `${path} at ${width} px`, turn = async (to) => {
          await Promise.all([page.waitForEvent("framenavigated"), page.getByRole("link", { name: `${to} page` }).click()]);
          await settled(page);
          assert.deepEqual(await moved(page), [], `${to} page of ${what}`);
          return first();
        };
        await page.goto(path);
        assert.equal(await listed(page), 50, what);
        assert.equal(await page.getByRole("link", { name: "Previous page" }).count(), 0, what);
        const one = await page.locator("main tbody tr a[href]").first().getAttribute("href"), two = await turn("Next");
        assert.ok(two, what);
        assert.notEqual(await page.locator("main tbody tr a[href]").first().getAttribute("href"), one, what);
        await turn("Previous");
        assert.equal(await page.locator("main tbody tr a[href]").first().getAttribute("href"), one, what);
      }
    }
  },

  async "see on every page that the queue is paused, and resume it"({ open }) {
    const page = await open();
    await page.goto("/system");
    await page.getByLabel("Reason").fill("walked");
    await page.getByRole("button", { name: /Pause/ }).click();
    await page.waitForURL("**said=queue-paused");
    for (const path of ["/", "/hosts", "/allocations/new"]) {
      await page.goto(path);
      await says(page.locator("main"), "The queue is paused by");
      await says(page.locator("main"), "walked");
    }
    await page.getByRole("link", { name: "Resume the queue" }).click();
    await page.getByRole("button", { name: /Resume/ }).click();
    await page.waitForURL("**said=queue-resumed");
    await page.goto("/hosts");
    assert.equal(await page.getByText("The queue is paused by").count(), 0);
  },

  async "retry from the page of what failed"({ s, open }) {
    const page = await open();
    const allocation = (await ask(s, "/allocations?state=allocation_failed&limit=1")).items[0];
    for (const path of [`/allocations/${allocation.id}`, `/compute-units/${allocation.unit_id}`]) {
      await page.goto(path);
      await page.getByRole("button", { name: /^Retry/ }).first().waitFor();
    }
    const plan = (await ask(s, "/plans?state=failed&limit=1")).items[0];
    await page.goto(`/plans/${plan.id}`);
    await page.getByRole("button", { name: /^Retry/ }).click();
    await page.waitForURL("**/jobs/*");
    await says(page.locator(".head .state").first(), "queued");
  },

  // A form that is sent when the session has ended comes back filled in after the login; without scripts it is sent by a click.
  async "log in again with a form that was filled in"({ s, open }) {
    for (const more of [{}, noScripts]) {
      const page = await open(more), name = `again-${randomBytes(3).toString("hex")}`;
      const end = async () => {
        const cookies = await page.context().cookies();
        await page.context().addCookies(cookies.filter((c) => c.name === "kloigos").map((c) => ({ ...c, value: "kl_ended" })));
      };
      await page.goto("/hosts/new");
      await page.locator("#name").fill(name);
      await page.locator("#address").fill("192.0.2.97");
      await page.locator("#labels").fill("rack=r1");
      await end();
      await page.getByRole("button", { name: "Register and probe" }).click();
      await says(page, "Your session has ended");
      assert.equal((await ask(s, `/hosts?search=${name}`)).items.length, 0);
      await logIn(page, s);
      if (more === noScripts) {
        await says(page, "You are logged in again");
        await page.getByRole("button", { name: "Send it now" }).click();
      } else {
        await page.waitForURL("**/hosts/new");
        await says(page, "The form is filled in as you left it.");
        assert.equal(await page.locator("#labels").inputValue(), "rack=r1");
        await page.getByRole("button", { name: "Register and probe" }).click();
      }
      await page.waitForURL("**/hosts/*/setup*");
      assert.equal((await ask(s, `/hosts?search=${name}`)).items[0].labels.rack, "r1");
      await page.goto("/hosts/new");
      assert.equal(await page.locator("#name").inputValue(), ""); // kept once
    }
    // What a script finds out while one types does not lose it, nor does a text that is too long for a stranger.
    const page = await open();
    await page.goto("/playbooks/host_probe/versions/1/edit?path=playbook.yml");
    await page.locator(".editor .cm-content").evaluate((to) => { // as it is pasted
      const data = new DataTransfer();
      data.setData("text/plain", "# kept\n".repeat(4000));
      to.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    const cookies = await page.context().cookies();
    await page.context().addCookies(cookies.filter((c) => c.name === "kloigos").map((c) => ({ ...c, value: "kl_ended" })));
    await page.getByRole("button", { name: "Check and store" }).click();
    await says(page, "Your session has ended");
    await logIn(page, s);
    await page.waitForURL("**/edit?path=playbook.yml");
    await says(page, "The form is filled in as you left it.");
    assert.equal((await page.locator("#content").inputValue()).match(/# kept\n/g).length, 4000);
    await says(page.locator(".editor .cm-content"), "# kept");
  },

  async "log in with the keys, and out again"({ s, open }) {
    const page = await open(nobody);
    await page.goto("/hosts?state=ready");
    assert.equal(new URL(page.url()).pathname, "/login");
    await page.locator("input[name=account]:focus").waitFor();
    await page.keyboard.type(s.account); // the field has the focus
    await page.keyboard.press("Tab");
    await page.keyboard.type("wrong");
    await page.keyboard.press("Enter");
    await page.locator("#wrong").waitFor();
    await page.locator("input[type=password]:focus").waitFor();
    await page.keyboard.type(s.password); // and again
    await page.keyboard.press("Enter");
    await page.waitForURL("**/hosts?state=ready");
    await page.getByRole("button", { name: "Log out" }).click();
    await page.waitForURL("**/login*");
    await page.goto("/jobs");
    assert.equal(new URL(page.url()).pathname, "/login");
  },

  async "go to a host by its name"({ s, open }) {
    const name = (await ask(s, "/hosts?limit=1&state=ready&sort=-name")).items[0].name;
    const page = await open();
    await page.goto("/");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").pressSequentially(name);
    await page.getByRole("option", { name, selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/hosts/*");
    assert.equal(await heading(page), name);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.evaluate(() => { // before the frame that takes the focus from the closed dialog
      document.querySelector("dialog.keys").close();
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }));
    });
    await page.getByRole("combobox").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("combobox").waitFor({ state: "hidden" });
  },

  async "filter the hosts, and give the address to someone"({ open }) {
    const page = await open();
    await page.goto("/hosts");
    assert.equal(await listed(page), 50);
    await page.getByLabel("State").selectOption("lost");
    await page.waitForURL("**state=lost**");
    assert.equal(await listed(page), 1);
    const other = await open();
    await other.goto(page.url());
    assert.equal(await firstName(other), await firstName(page));
    await page.getByRole("link", { name: "Clear" }).click();
    await page.waitForURL("**/hosts");
    const first = await firstName(page);
    await page.getByRole("link", { name: "Next page" }).click();
    await page.waitForURL("**cursor=**");
    assert.notEqual(await firstName(page), first);
    await page.getByRole("link", { name: "First page" }).click();
    await page.waitForURL("**/hosts");
    assert.equal(await firstName(page), first);
    await goBackAndForth(page);
  },

  // What the filter shows is what the list is of, also where a browser restores the fields of a page that one goes back to.
  async "go back to a list, and see the filter that is applied"({ open }) {
    const page = await open(), filter = page.getByLabel("State");
    await page.goto("/hosts");
    await filter.selectOption("lost");
    await page.waitForURL("**state=lost**");
    await page.goBack();
    await page.waitForURL("**/hosts");
    assert.equal(await filter.inputValue(), "");
    assert.equal(await listed(page), 50);
    await page.goForward();
    await page.waitForURL("**state=lost**");
    assert.equal(await filter.inputValue(), "lost");
    assert.equal(await listed(page), 1);
  },

  // What one looks for first in a list is within a phone's width.
  async "see on a phone how hosts are"({ open }) {
    const page = await open({ viewport: { width: 390, height: 844 } });
    await page.goto("/hosts");
    await row(page).waitFor();
    const health = await page.locator("main tbody .health").evaluateAll((all) => all.map((e) => e.checkVisibility() && e.getBoundingClientRect().right));
    assert.ok(health.length > 20 && health.every((right) => right && right <= 390), `the health of hosts ends at ${health}`);
  },

  // What a failed job did is on a phone's first screen, below what it was and why it failed.
  async "read on a phone what a failed job did"({ open }) {
    const page = await open({ viewport: { width: 390, height: 844 } });
    await page.goto("/jobs?state=failed");
    await row(page).locator("a.name").first().click();
    await page.locator("#job-log .log > li").first().waitFor();
    const top = await page.locator("#job-log").evaluate((e) => e.getBoundingClientRect().top + scrollY);
    assert.ok(top < 844, `the log begins at ${top} px`);
  },

  // The strip that is kept for a scroll bar is as dark as the rest of the page behind a dialog.
  async "open a dialog, and see nothing of the page uncovered"({ open }) {
    const page = await open(), ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await page.goto("/hosts");
    const before = await ground();
    await page.keyboard.press("Control+k");
    await page.locator("dialog.palette[open]").waitFor();
    assert.notEqual(await ground(), before);
    await page.keyboard.press("Escape");
    await page.locator("dialog.palette[open]").waitFor({ state: "hidden" });
    assert.equal(await ground(), before);
  },

  // Thousands of units beside their bars: neither runs into the other.
  async "ask for more CPUs than there are, and see why not"({ open }) {
    for (const width of [390, 1280, 2560]) {
      const page = await open({ viewport: { width, height: 900 } });
      await page.goto("/allocations/new");
      await page.getByLabel("SSH public keys").fill(key);
      await page.getByLabel("CPUs, at least").fill("4000");
      await page.getByLabel("Login user").fill("large");
      await page.getByRole("button", { name: "Allocate", exact: true }).click();
      await page.locator(".why li").first().waitFor();
      const rows = await page.locator(".why li").evaluateAll((all) => all.map((li) => [...li.children].map((e) => e.getBoundingClientRect()).filter((r) => r.width > 0)
        .map((r) => [Math.round(r.left), Math.round(r.right)])));
      for (const parts of rows) for (let n = 1; n < parts.length; n++) assert.ok(parts[n - 1][1] <= parts[n][0], `at ${width} px: ${JSON.stringify(parts)}`);
    }
  },

  // Nothing runs in the showcase: the allocation is made, its job waits, and the page says so.
  async "allocate a unit, and cancel its job"({ open }) {
    const page = await open();
    await page.goto("/allocations/new");
    await page.getByLabel("SSH public keys").fill("no key");
    await page.getByRole("button", { name: "Allocate", exact: true }).click();
    await page.locator("#ssh_keys-problem").waitFor();
    await page.getByLabel("SSH public keys").fill(key);
    await page.getByLabel("CPUs, at least").fill("1");
    await page.getByLabel("Login user").fill("walker");
    await says(page.locator("#capacity"), /free units? fits?/);
    await page.getByRole("button", { name: "Allocate", exact: true }).click();
    await page.waitForURL(/\/(jobs|allocations)\/[0-9a-f-]{36}/);
    if (page.url().includes("/allocations/")) await page.locator("main tbody a[href^='/jobs/']").first().click();
    await page.waitForURL("**/jobs/*");
    await says(page.locator(".head .state").first(), "queued");
    await page.getByRole("button", { name: "Cancel" }).click();
    await says(page.locator(".head .state").first(), "cancelled");
    await page.getByRole("link", { name: "walker" }).click();
    await page.waitForURL("**/allocations/*");
    await says(page, "cancelled before it began: nothing was set up");
    assert.equal(await page.locator("main .note-bad:not(#offline)").count(), 0);
    assert.doesNotMatch(await page.locator("main").textContent(), /wipe/i);
  },

  // Nothing runs in the showcase: the job waits, and what was measured before stays on the page.
  async "measure an allocation, and keep the focus while it is watched"({ s, open }) {
    const { id, login_user: user } = (await ask(s, "/allocations?limit=500&state=allocated")).items.find((a) => a.use?.cpu_millis > 0);
    const page = await open();
    await page.goto(`/allocations/${id}`);
    const use = page.getByRole("region", { name: "Use" }), watch = use.getByRole("button", { name: "Watch for a minute" });
    await says(use.getByRole("status"), "measured");
    await watch.focus();
    await page.evaluate(() => { window.walkShifts.length = 0; });
    await page.keyboard.press("Enter");
    await says(use.getByRole("status"), "waiting for a measurement");
    assert.equal(new URL(page.url()).pathname, `/allocations/${id}`);
    const part = (r) => r.url().endsWith(`/allocations/${id}/use`);
    await page.waitForResponse(part); // it is looked at again by itself
    await page.waitForResponse(part);
    await page.waitForTimeout(300);
    assert.ok(await watch.evaluate((b) => b === document.activeElement), `the focus was lost while ${user} was watched`);
    assert.deepEqual(await page.evaluate(() => window.walkShifts), []);
    const job = new URL(await use.getByRole("link", { name: "Open the job" }).getAttribute("href"), page.url()).pathname;
    await use.getByRole("button", { name: "Measure now" }).click(); // the same job goes on
    await says(use.getByRole("status"), "waiting for a measurement");
    assert.equal(new URL(await use.getByRole("link", { name: "Open the job" }).getAttribute("href"), page.url()).pathname, job);
    await page.goto(job);
    await page.getByRole("button", { name: "Cancel" }).click();
    await says(page.locator(".head .state").first(), "cancelled");

    const bare = await open(noScripts);
    await bare.goto(`/allocations/${id}`);
    await bare.getByRole("button", { name: "Measure now" }).click();
    await bare.waitForURL(`**/allocations/${id}#use`);
    await says(bare.locator("#use"), "waiting for a measurement");
  },

  // The job is cancelled by someone else while one has the focus on its button: it stays, and goes on when one leaves it.
  async "see a job change, with nothing taken from under one's hands"({ s, open }) {
    const { id } = (await ask(s, "/jobs?state=running&limit=50")).items.find((j) => j.kind === "unit_deallocate");
    const page = await open(), state = page.locator("#job-state .head .state").first();
    await page.goto(`/jobs/${id}`);
    await says(page.locator("#job-state"), "running");
    const button = page.getByRole("button", { name: "Cancel" });
    await button.focus();
    const told = page.waitForEvent("console", (m) => m.text() === "the state has come");
    await page.evaluate((id) => {
      const more = new EventSource(`/jobs/${id}/stream?after=0`);
      more.addEventListener("state", (e) => { if (e.data.includes("Stopping:")) { more.close(); setTimeout(() => console.log("the state has come"), 500); } });
    }, id);
    const answer = await fetch(`${s.api}/api/v1/jobs/${id}/cancel`, { method: "POST", headers: { Authorization: `Bearer ${s.token}` } });
    assert.ok(answer.ok, `${answer.status}`);
    await told;
    assert.equal((await state.textContent()).trim(), "running");
    assert.ok(await button.evaluate((b) => b === document.activeElement));
    await page.getByLabel("Search the log").focus();
    await says(page.locator("#job-state"), "Stopping: Ansible and its tasks on the host end.");
    assert.equal((await state.textContent()).trim(), "cancelling");
    assert.equal(await button.count(), 0);
  },

  async "act on a host from the list of everything"({ s, open }) {
    const page = await open();
    await page.goto(`/hosts/${(await ask(s, "/hosts?limit=1&state=ready")).items[0].id}`);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").pressSequentially("change the lay");
    await page.getByRole("option", { name: "Change the layout", selected: true }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/layout");
  },

  async "delete only what was typed"({ s, open }) {
    const { id, name } = (await ask(s, "/hosts?limit=1&state=init_failed")).items[0];
    const page = await open();
    await page.goto(`/hosts/${id}`);
    const form = page.locator("details.confirm").filter({ hasText: "Declare lost" });
    await form.locator("summary").click();
    await form.getByRole("textbox").fill(name + "x");
    await form.getByRole("button", { name: "Declare lost" }).click();
    assert.match(await form.getByRole("textbox").evaluate((e) => e.validationMessage), new RegExp(name));
    const bare = await open(noScripts);
    await bare.goto(`/hosts/${id}`);
    const plain = bare.locator("details.confirm").filter({ hasText: "Declare lost" });
    await plain.locator("summary").click();
    await plain.getByRole("textbox").fill(name + "x");
    await plain.getByRole("button", { name: "Declare lost" }).click();
    await says(bare, `type the host's name, ${name}`);
    assert.equal((await ask(s, `/hosts/${id}`)).state, "init_failed");
  },

  async "search a log, and link to a line"({ s, open }) {
    const page = await open();
    await page.goto(new URL(s["long job"]).pathname);
    await page.getByLabel("Search the log").fill("insufficient free space");
    await page.keyboard.press("Enter");
    await page.waitForURL("**q=insufficient**");
    await page.locator(".log li", { hasText: "insufficient free space" }).first().waitFor();
    const number = page.locator(".log li", { hasText: "insufficient free space" }).first().locator("a.no");
    const line = (await number.textContent()).trim();
    await number.click();
    await page.waitForURL(/L\d+$/);
    const other = await open();
    await other.goto(page.url());
    await other.locator(`#L${line}`).waitFor();
    await other.waitForFunction((id) => { // in sight, once what is above it has come
      const r = document.getElementById(id)?.getBoundingClientRect();
      return r && r.top >= 0 && r.bottom <= innerHeight;
    }, `L${line}`);
  },

  async "find the failure, though the page's script came after the outline"({ s, open }) {
    const { id } = (await ask(s, "/jobs?state=failed&kind=host_probe&limit=1")).items[0];
    const page = await open();
    const outline = page.waitForResponse(`**/jobs/${id}/outline`);
    await page.route(/\/job[^/]*\.js/, async (script) => { await outline; await new Promise((done) => setTimeout(done, 500)); await script.continue(); });
    await page.goto(`/jobs/${id}`);
    await page.locator("#to-failure[href*='#L']").click();
    await page.waitForURL(/#L\d+$/);
  },

  async "lay a host out, in two tabs at once"({ s, open }) {
    const { id } = (await ask(s, "/hosts?state=probed")).items[1];
    const page = await open(), second = await open();
    await page.goto(`/hosts/${id}/layout`);
    await second.goto(`/hosts/${id}/layout`);
    await page.getByLabel("Units", { exact: true }).fill("3");
    await page.getByLabel("CPUs of each unit").fill("4");
    await says(page.locator("#preview [role=status]"), "3 units");
    await page.getByRole("group", { name: "Disks" }).getByRole("checkbox").first().check();
    await page.locator("[data-cpu]").first().focus();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("button", { name: "Set this layout" }).click();
    await page.waitForURL(/\/hosts\/[^/]+(\/setup)?\?said=/);
    await second.getByLabel("Units", { exact: true }).fill("2");
    await second.getByRole("button", { name: "Set this layout" }).click();
    await says(second, "Someone else changed");
    assert.equal((await ask(s, `/hosts/${id}`)).layout.units.length, 3);
  },

  // On the host of the task before, over what was set there.
  async "draw the units of a host with the keys alone"({ s, open }) {
    const { id } = (await ask(s, "/hosts?state=probed")).items[1];
    const page = await open(), said = page.locator("[data-say]");
    const press = async (key, times = 1) => { for (let n = 0; n < times; n++) await page.keyboard.press(key); };
    await page.goto(`/hosts/${id}/layout`);
    await page.locator("[data-layout-map]").waitFor();
    await tabTo(page, "[data-clear]");
    await press("Enter");
    await tabTo(page, "[data-cpu]");
    await press("Home");
    await press("ArrowRight", await page.locator("[data-cpu]").evaluateAll((all) => all.findIndex((c) => c.classList.contains("own-none"))));
    await press("Space");
    await says(said, "Arrows extend it");
    await press("ArrowRight", 3);
    await press("Space");
    await says(said, /unit 1: \S+, 4 CPUs\./);
    await press("ArrowRight");
    await press("Enter"); // and one that is not meant
    await press("ArrowDown");
    await press("Escape");
    await says(said, "Taken back.");
    assert.equal((await field(page, "units")).length, 1);
    await press("Home");
    await press("ArrowRight", await page.locator("[data-cpu]").evaluateAll((all) => all.findIndex((c) => c.classList.contains("own-none"))));
    await press("Space");
    await press("ArrowRight", 2);
    await press("Space");
    await says(said, /unit 2: \S+, 3 CPUs\./);
    await tabTo(page, "[data-undo]");
    await press("Enter");
    await says(said, "Undone.");
    assert.equal((await field(page, "units")).length, 1);
    await tabTo(page, "[data-cpu]", "Shift+Tab");
    await press("Space"); // where the focus was left: the last CPU of what was undone
    await press("ArrowLeft");
    await press("Space");
    await says(said, /unit 2: \S+, 2 CPUs\./);
    await tabTo(page, "input[name=devices]");
    if (!(await page.evaluate(() => document.activeElement.checked))) await press("Space");
    await says(page.locator("#preview [role=status]"), "2 units");
    await tabTo(page, "form button.main");
    await press("Enter");
    await page.waitForURL(/\/hosts\/[^/]+(\/setup)?\?said=/);
    assert.deepEqual((await ask(s, `/hosts/${id}`)).layout.units.map((u) => u.cpu_count), [4, 2]);
  },

  // Keys that are shortcuts elsewhere are text here, and text is not lost without a question. A long line stays within the page.
  async "write in the editor, and leave it"({ open }) {
    const page = await open(), asked = [];
    let leave = false;
    page.on("dialog", (d) => { asked.push(d.type()); return leave ? d.accept() : d.dismiss(); });
    await page.goto("/playbooks/host_initialize/versions/1/edit?path=playbook.yml");
    const text = page.locator(".editor .cm-content");
    await text.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("# what/is? " + "long ".repeat(200));
    await says(text, "# what/is? long");
    assert.equal(await page.locator("dialog[open]").count(), 0);
    assert.deepEqual(await over(page), []);
    await page.getByRole("link", { name: "Hosts", exact: true }).click();
    await page.waitForTimeout(300);
    assert.deepEqual(asked, ["beforeunload"]);
    assert.match(page.url(), /\/edit/);
    leave = true;
    await page.getByRole("link", { name: "Hosts", exact: true }).click();
    await page.waitForURL("**/hosts");
  },

  async "change several files in one version, and mend the line that is refused"({ s, open }) {
    for (const more of [{}, noScripts]) {
      const page = await open(more), bare = more === noScripts;
      const write = async (text) => {
        if (bare) return page.getByLabel("Text", { exact: true }).evaluate((a, text) => { a.value += text; }, text);
        await page.locator(".editor .cm-content").click();
        await page.keyboard.press("Control+End");
        await page.keyboard.insertText(text);
      };
      const other = async (path) => {
        await page.getByLabel("Change another file in the same version").selectOption(path);
        await page.getByRole("button", { name: "Open it" }).click();
        await page.locator("h1", { hasText: path || "Add a file" }).waitFor();
      };
      await page.goto("/playbooks/host_probe/versions/1/edit?path=playbook.yml");
      await write("# one\n");
      await other("");
      await page.getByLabel("Path").fill("roles/host_probe/files/two");
      await write("two\n");
      const role = "roles/host_probe/tasks/main.yml";
      await other(role);
      await write("\n".repeat(80) + "- name: Go around the fence\n  ansible.builtin.raw: id\n");
      await page.getByRole("button", { name: "Edit playbook.yml" }).click();
      await page.locator("h1", { hasText: "playbook.yml" }).waitFor();
      await page.getByRole("button", { name: "Check and store" }).click();
      await page.locator("#wrong").waitFor();
      await page.locator("h1", { hasText: role }).waitFor(); // the file that was refused, at its line
      if (!bare) {
        await page.locator(".editor .cm-lint-marker-error").first().waitFor();
        await page.keyboard.type("X");
        await says(page.locator(".editor .cm-activeLine"), /^X.*(Go around|raw)/);
      }
      await page.getByRole("button", { name: "Edit playbook.yml" }).click();
      await page.getByRole("button", { name: `Undo the change of ${role}` }).click();
      await page.getByRole("button", { name: `Undo the change of ${role}` }).waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Check and store" }).click();
      await page.waitForURL("**/versions/*said=version-stored");
      const at = new URL(page.url()).pathname;
      const file = (path) => ask(s, `${at}/file?path=${encodeURIComponent(path)}`).then((f) => f.content);
      assert.match(await file("playbook.yml"), /# one\n$/);
      assert.equal(await file("roles/host_probe/files/two"), "two\n");
      assert.doesNotMatch(await file(role), /Go around/);
    }
  },

  async "see what a version of a playbook changes"({ open }) {
    const page = await open();
    await page.goto("/playbooks");
    await page.getByRole("link", { name: "host_initialize" }).first().click();
    await page.getByRole("link", { name: "v2" }).first().click();
    await page.getByRole("button", { name: "Show the differences" }).click();
    await says(page.locator("pre.diff .add, .d-add").first(), "# walked");
  },

  async "export the events that the filter lets through"({ open }) {
    const page = await open();
    await page.goto("/events?object_kind=host");
    const coming = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export CSV" }).click();
    const text = readFileSync(await (await coming).path(), "utf8").split("\n");
    assert.match(text[0], /action/);
    assert.ok(text.length > 100, `${text.length} lines`);
  },

  async "add an address, and take it out again"({ open }) {
    const page = await open();
    await page.goto("/address-pool");
    await page.getByLabel("Addresses or ranges, one in each line").fill("9.0.0.7");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await says(page, "were added to the pool");
    const mine = page.locator("tr", { hasText: "9.0.0.7" });
    await mine.locator("summary").click();
    await mine.getByRole("button", { name: "Remove 9.0.0.7" }).click();
    await page.waitForURL("**said=address-removed");
    assert.equal(await page.locator("tr", { hasText: "9.0.0.7" }).count(), 0);
  },

  async "make a token, see it once, and end it"({ s, open }) {
    const page = await open();
    await page.goto("/tokens");
    await page.getByLabel("Purpose").fill("walk");
    await page.getByRole("button", { name: "Create" }).click();
    const token = (await page.locator(".secret code").textContent()).trim();
    const opens = async () => (await fetch(`${s.api}/api/v1/whoami`, { headers: { Authorization: `Bearer ${token}` } })).status;
    assert.equal(await opens(), 200);
    await page.goto("/tokens");
    assert.ok(!(await page.content()).includes(token), "shown again");
    const mine = page.locator("tr", { has: page.getByRole("cell", { name: "walk", exact: true }) });
    await mine.locator("summary").click();
    await mine.getByRole("button", { name: "End walk" }).click();
    await page.waitForURL("**said=*");
    assert.equal(await opens(), 401);
  },

  async "choose a theme, and keep it"({ open }) {
    const page = await open(noScripts);
    await page.goto("/jobs");
    await page.getByRole("button", { name: "Dark" }).click();
    assert.equal(new URL(page.url()).pathname, "/jobs");
    assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
    await page.goto("/hosts");
    assert.equal(await page.getByRole("button", { name: "Dark" }).getAttribute("aria-pressed"), "true");
  },

  async "read and change without JavaScript"({ s, open }) {
    const page = await open({ ...noScripts, ...nobody });
    await page.goto("/");
    await logIn(page, s);
    await page.waitForURL(`${s.web}/`);
    assert.equal(await heading(page), "Overview");
    for (const path of ["/hosts", "/compute-units", "/allocations", "/jobs", "/plans", "/playbooks", "/address-pool", "/events", "/tokens"]) {
      await page.goto(path);
      assert.ok(await listed(page) > 0, path);
    }
    await page.goto(new URL(s["failed job"]).pathname);
    await says(page.locator(".log"), "the volume could not be removed");
    await page.goto("/hosts");
    await page.getByLabel("State").selectOption("lost");
    await page.getByRole("button", { name: "Show" }).click();
    assert.equal(await listed(page), 1);
    await goBackAndForth(page);

    await page.goto("/hosts/new");
    await page.getByLabel("Name").fill("walked-1");
    await page.getByLabel("Address").fill("192.0.2.99");
    await page.getByRole("button", { name: "Register and probe" }).click();
    await page.waitForURL((u) => u.pathname !== "/hosts/new");
    const host = (await ask(s, "/hosts?search=walked-1")).items[0];
    assert.equal(host.state, "probing");

    await page.goto("/allocations/new");
    await page.getByLabel("SSH public keys").fill(key);
    await page.getByLabel("CPUs, at least").fill("1");
    await page.getByLabel("Login user").fill("bare");
    await page.getByRole("button", { name: "Allocate", exact: true }).click();
    await page.waitForURL((u) => u.pathname !== "/allocations/new");
    assert.equal((await ask(s, "/allocations?login_user=bare")).items[0].state, "allocating");

    const probed = (await ask(s, "/hosts?state=probed")).items.find((h) => !h.layout);
    await page.goto(`/hosts/${probed.id}/layout`);
    await page.getByLabel("Units", { exact: true }).fill("2");
    await page.getByRole("group", { name: "Disks" }).getByRole("checkbox").first().check();
    await page.getByRole("button", { name: "Preview" }).click();
    await says(page, "2 units");
    await page.getByRole("button", { name: "Set this layout" }).click();
    await page.waitForURL("**said=*");
    assert.equal((await ask(s, `/hosts/${probed.id}`)).layout.units.length, 2);
  },

  // A browser that is slow to read a page would paint it half read, and move what it painted when it has the rest.
  async "draw pages whole on a slow machine"({ open }) {
    const page = await open();
    const slow = await page.context().newCDPSession(page);
    await slow.send("Emulation.setCPUThrottlingRate", { rate: 5 });
    for (const path of ["/", "/hosts", "/allocations", "/jobs", "/", "/hosts"]) {
      await page.goto(path);
      await settled(page);
      assert.deepEqual(await page.evaluate(() => window.walkShifts), [], path);
    }
  },

  // Both work at a table, and what moves under one's eyes does not.
  async "stay where it is while it is brought up to date"({ open }) {
    const page = await open();
    await page.goto("/");
    await page.evaluate(() => { window.walkShifts.length = 0; }); // its loading is looked at with all the others
    await page.waitForResponse((r) => r.url().endsWith("/") && r.request().headers()["hx-request"] === "true");
    await page.waitForTimeout(300);
    assert.deepEqual(await page.evaluate(() => window.walkShifts), []);
  },

  "say that the backend is gone, and go on when it is back": offline,
};
