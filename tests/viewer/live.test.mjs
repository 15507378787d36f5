// `sinew view` in a real browser: the mouse pulls a body, sliders act, a saved file is loaded again, strangers are refused.

import { strict as assert } from "node:assert";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { drawn, launch, newPage } from "./browser.mjs";
import { read } from "./snr.mjs";

const SCENE = `sinew: 1
gravity: [0, 0, 0]
bodies:
  stone:
    joint: {type: free}
    shapes: [{type: box, size: [0.5, 0.5, 0.5], density: 100}]
  post:
    joint: {type: fixed, at: [0, 1, 0]}
    shapes: [{type: box, size: [0.1, 0.1, 2], density: 100}]
run: {method: redmax, step: 0.01}
`;
const TIME = 120000; // drawing by software on a busy machine is slow

let browser, view;
const servers = [];
const file = join(mkdtempSync(join(tmpdir(), "sinew-live-")), "stone.yaml");

/** The command, when it has said its address. */
function start(...args) {
  return new Promise((resolve, reject) => {
    const process_ = spawn(process.env.SINEW, ["view", ...args], { stdio: ["ignore", "pipe", "inherit"] });
    servers.push(process_);
    process_.on("error", reject);
    process_.on("exit", (code) => reject(new Error(`sinew view ended with ${code}`)));
    process_.stdout.on("data", (bytes) => resolve({ process: process_, address: String(bytes).trim() }));
  });
}

before(async () => {
  writeFileSync(file, SCENE);
  browser = await launch();
  view = await start(file, "--quiet");
});
after(async () => {
  for (const server of servers) server.kill("SIGINT");
  await browser?.close();
});

async function open(address = view.address) {
  const page = await newPage(browser);
  page.setDefaultTimeout(TIME);
  await page.goto(address);
  await page.waitForFunction(() => window.sinew?.frames > 1 && window.sinew.drawn > 1);
  return page;
}

const place = (page, body) => page.evaluate((name) => window.sinew.projected(name), body);

test("a body is grabbed with the mouse and follows", async () => {
  const page = await open();
  const from = await place(page, "stone");
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.waitForFunction(() => window.sinew.status()?.grabs.length === 1);
  const to = { x: from.x + 130, y: from.y - 60 };
  await page.mouse.move(to.x, to.y, { steps: 8 });
  // where it was taken is its middle, on the side that faces the eye: a little nearer than the middle itself
  await page.waitForFunction(({ x, y }) => {
    const at = window.sinew.projected("stone");
    return Math.hypot(at.x - x, at.y - y) < 25;
  }, to);
  await page.mouse.up();
  await page.waitForFunction(() => window.sinew.status()?.grabs.length === 0);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("sliders act, and pause does", async () => {
  const page = await open();
  await page.evaluate(() => {
    const slider = document.querySelector('input[type=range][data-path="gravity[2]"]');
    slider.value = "0"; // the least: downwards
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  });
  const start_ = await page.evaluate(() => window.sinew.projected("post").y);
  await page.waitForFunction((y) => {
    const at = window.sinew.projected("stone");
    return at.y > y + 200;
  }, start_);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => window.sinew.status()?.playing === false);
  const t = await page.evaluate(() => window.sinew.status().t);
  await page.keyboard.press("Space");
  await page.waitForFunction((before_) => window.sinew.status()?.playing && window.sinew.status().t > before_, t);
  await page.close();
});

test("any parameter can be found, slid and typed", async () => {
  const page = await open();
  const value = (path) => page.inputValue(`[data-value-of="${path}"]`);
  assert.equal(await page.locator('[data-path="bodies.stone.joint.damping[4]"]').count(), 0, "it does nothing, so it is not shown at first");
  await page.fill("#filter-parameters", "stone damping[4");
  await page.waitForSelector('[data-path="bodies.stone.joint.damping[4]"]');
  assert.match(await page.textContent("#parameter-count"), /^1 of \d+$/);
  await page.fill('[data-value-of="bodies.stone.joint.damping[4]"]', "0.125");
  await page.keyboard.press("Enter");
  await page.fill("#filter-parameters", "inertia");
  await page.waitForSelector('[data-path="bodies.stone.inertia.xy"]');
  await page.fill("#filter-parameters", "damping[4]");
  await page.waitForSelector('[data-path="bodies.stone.joint.damping[4]"]');
  assert.equal(await value("bodies.stone.joint.damping[4]"), "0.125", "the server has it");
  // what is refused goes back, with a word about it
  await page.fill("#filter-parameters", "stone mass");
  await page.waitForSelector('[data-path="bodies.stone.inertia.mass"]');
  const mass = await value("bodies.stone.inertia.mass");
  await page.fill('[data-value-of="bodies.stone.inertia.mass"]', "-3");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".message.warning");
  await page.evaluate(() => document.activeElement.blur());
  await page.waitForFunction((m) => document.querySelector('[data-value-of="bodies.stone.inertia.mass"]').value === m, mass);
  // a selected body has its own list
  await page.fill("#filter-parameters", "");
  await page.click('[data-body="post"] .name');
  await page.waitForFunction(() => document.querySelector("#parameter-count").textContent.startsWith("12 of"));
  assert.deepEqual(await page.$$eval("#sliders .group-head span", (heads) => heads.map((head) => head.textContent)), ["post"]);
  await page.click("#scope");
  await page.waitForSelector('[data-path="gravity[2]"]');
  await page.close();
});

test("thousands of parameters come as they are scrolled to", async () => {
  const links = Array.from({ length: 400 }, (_, k) => `  l${k}: {parent: ${k ? `l${k - 1}` : "world"}, joint: {type: revolute, at: [${k ? 0.1 : 0}, 0, 0], axis: [0, 1, 0]}, shapes: [{type: box, size: [0.1, 0.1, 0.1], density: 100}]}`);
  const many = join(mkdtempSync(join(tmpdir(), "sinew-live-")), "many.yaml");
  writeFileSync(many, `sinew: 1\nbodies:\n${links.join("\n")}\nrun: {method: redmax, step: 0.01}\n`);
  const server = await start(many, "--quiet");
  const page = await open(server.address);
  await page.click("#every-parameter");
  await page.waitForFunction(() => /^6,422 of 6,422$/.test(document.querySelector("#parameter-count").textContent));
  const shown = () => page.locator("#sliders .slider").count();
  assert.ok((await shown()) <= 180, "only what is near has a slider");
  for (let k = 0; k < 6; k++) {
    const before_ = await shown();
    await page.evaluate(() => (document.querySelector("#sliders").scrollTop = 1e7));
    await page.waitForFunction((n) => document.querySelectorAll("#sliders .slider").length > n, before_);
  }
  // who is at the end whenever some have come
  await page.evaluate(() => {
    const list = document.querySelector("#sliders");
    new MutationObserver(() => (list.scrollTop = 1e7)).observe(list, { childList: true, subtree: true });
    list.scrollTop = 1e7;
  });
  await page.waitForFunction((n) => document.querySelectorAll("#sliders .slider").length > n + 600, await shown());
  const paths = await page.$$eval("#sliders input[type=range]", (list) => list.map((range) => range.dataset.path));
  assert.equal(new Set(paths).size, paths.length);
  await page.fill("#filter-parameters", "l399.inertia.mass");
  await page.waitForFunction(() => document.querySelectorAll("#sliders .slider").length === 1);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("the gallery shows pictures, finds scenes and opens them", async () => {
  const server = await start("--quiet");
  const page = await newPage(browser);
  page.setDefaultTimeout(TIME);
  await page.goto(server.address);
  await page.waitForFunction(() => document.querySelectorAll("#gallery img").length >= 6);
  assert.ok(await page.$$eval("#gallery img", (list) => list.every((image) => !image.complete || image.naturalWidth > 100)));
  await page.fill("#gallery input", "gears");
  assert.deepEqual(await page.$$eval(".scene-card:not([hidden]) b", (names) => names.map((name) => name.textContent)), ["redmax/gears"]);
  await page.click('[data-scene="redmax/gears"]');
  await page.waitForFunction(() => window.sinew.frames > 1);
  assert.equal(await page.textContent("#scene-name"), "gears");
  assert.ok(await page.isHidden("#gallery"));
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("a recording is shown as it is", async () => {
  const recording = join(mkdtempSync(join(tmpdir(), "sinew-live-")), "stone.snr");
  writeFileSync(file, SCENE);
  execFileSync(process.env.SINEW, ["run", file, "--duration", "0.5", "--quiet", "--out", recording]);
  const server = await start(recording, "--quiet");
  const page = await newPage(browser);
  await page.goto(server.address);
  await page.waitForFunction(() => window.sinew?.drawn > 0);
  assert.equal(await page.evaluate(() => window.sinew.frames), read(readFileSync(recording)).frames.length);
  assert.equal(await page.textContent("#scene-name"), "stone");
  assert.equal(await page.evaluate(() => window.sinew.status()), null, "nothing is simulated");
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("saving the file loads it again, the camera stays, and mistakes are shown with their line", async () => {
  const page = await open();
  await drawn(page, () => page.keyboard.press("3")); // not where it would be put by itself
  const camera = await page.evaluate(() => window.sinew.camera().view);
  writeFileSync(file, SCENE.replaceAll("stone", "rock"));
  await page.waitForFunction(() => window.sinew.projected("rock"));
  assert.deepEqual(await page.evaluate(() => window.sinew.camera().view), camera);
  writeFileSync(file, SCENE.replace("size: [0.5, 0.5, 0.5]", "size: [0.5, -1, 0.5]"));
  await page.waitForFunction(() => /line 6|:6|6:/.test(document.body.innerText));
  assert.ok(await place(page, "rock"), "the last good one goes on");
  writeFileSync(file, SCENE);
  await page.waitForFunction(() => window.sinew.projected("stone") && !/mistake/.test(document.body.innerText));
  await page.close();
});

test("a wrong token, a foreign page and a foreign name are refused", async () => {
  const page = await newPage(browser);
  const wrong = view.address.replace(/.\/$/, (end) => (end[0] === "0" ? "1/" : "0/"));
  assert.equal((await page.goto(wrong)).status(), 403);
  const stranger = createServer((_, answer) => answer.end("<!doctype html><p>stranger"));
  await new Promise((resolve) => stranger.listen(0, "127.0.0.1", resolve));
  await page.goto(`http://127.0.0.1:${stranger.address().port}/`);
  const tries = await page.evaluate(async (address) => {
    const stream = await new Promise((resolve) => {
      const socket = new WebSocket(`${address.replace("http", "ws")}live`, "sinew-live-1");
      socket.onopen = () => resolve("open");
      socket.onerror = () => resolve("refused");
    });
    const text = await fetch(address).then(() => "read", () => "refused");
    return { stream, text };
  }, view.address);
  assert.deepEqual(tries, { stream: "refused", text: "refused" });
  stranger.close();
  await page.close();
});

test("closing the page leaves the server running", async () => {
  const first = await open();
  const t = await first.evaluate(() => window.sinew.status().t);
  await first.close();
  const second = await open();
  await second.waitForFunction((before_) => window.sinew.status()?.t > before_, t);
  assert.equal(view.process.exitCode, null);
  await second.close();
});

test("a sheet of bars is pulled about by the method structured", async () => {
  const sheet = await start(join(process.env.SINEW_SOURCE_DIR, "scenes", "surface.yaml"), "--method", "structured", "--quiet");
  const page = await open(sheet.address);
  await page.waitForFunction(() => window.sinew.status()?.t > 4); // nothing but the mouse moves it now
  const corner = await place(page, "bar_0");
  await page.mouse.move(corner.x, corner.y);
  await page.mouse.down();
  await page.waitForFunction(() => window.sinew.status()?.grabs.length === 1);
  const to = { x: corner.x + 60, y: corner.y - 90 };
  await page.mouse.move(to.x, to.y, { steps: 12 });
  await page.waitForFunction(({ x, y }) => {
    const at = window.sinew.projected("bar_0");
    return Math.hypot(at.x - x, at.y - y) < 40;
  }, to);
  await page.mouse.up();
  await page.waitForFunction(() => window.sinew.status()?.grabs.length === 0);
  // and its loops close: to the precision of the scene
  await page.waitForFunction(() => window.sinew.status().gap <= 1e-4);
  const after = await page.evaluate(() => window.sinew.projected("bar_0"));
  assert.ok(Math.hypot(after.x - corner.x, after.y - corner.y) > 20, "it has not been moved");
  assert.deepEqual(page.complaints, []);
  await page.close();
});
