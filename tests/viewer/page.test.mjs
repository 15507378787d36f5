// The page of a recording in a real browser: first and last frame, scrubbing, plots, the tree of bodies.

import { strict as assert } from "node:assert";
import { after, before, test } from "node:test";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { drawn, launch, newPage, pageFile, project, seek } from "./browser.mjs";
import { read, sample, softSample } from "./snr.mjs";

let browser;
before(async () => (browser = await launch()));
after(async () => browser?.close());

async function open(recording, size) {
  const page = await newPage(browser, size);
  await page.goto(pageFile(recording));
  await page.waitForFunction(() => window.sinew?.drawn > 0);
  if (recording) await page.keyboard.press("Space"); // it plays by itself
  return page;
}

function checkQuiet(page) {
  assert.deepEqual(page.complaints, []);
  assert.ok(page.asked.every((url) => /^(file|data|blob):/.test(url)), `the page asked for ${page.asked}`);
}

/** Every body is where the recording and the camera put it. Float32 poses leave 1e-3 pixels. */
async function checkPlaces(page, recording, frame) {
  const { header, frames } = read(recording);
  const camera = await page.evaluate(() => window.sinew.camera());
  for (const [k, body] of header.bodies.entries()) {
    const want = project(camera, header.up, frames[frame].poses.slice(7 * k, 7 * k + 3));
    const got = await page.evaluate((name) => window.sinew.projected(name), body.name);
    const miss = Math.hypot(got.x - want.x, got.y - want.y);
    assert.ok(miss < 0.01, `frame ${frame}, '${body.name}': ${miss} pixels beside its place`);
    assert.ok(want.x > 0 && want.x < camera.width && want.y > 0 && want.y < camera.height, `'${body.name}' is out of sight`);
  }
}

/** Colours of the picture in a square of 2r + 1 around a point. */
async function colours(page, { x, y }, r = 2) {
  const png = await page.screenshot({ clip: { x: Math.round(x) - r, y: Math.round(y) - r, width: 2 * r + 1, height: 2 * r + 1 } });
  return page.evaluate(async (base64) => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return [...context.getImageData(0, 0, image.width, image.height).data];
  }, png.toString("base64"));
}

const isGreen = (data) => data.some((_, k) => k % 4 === 0 && data[k + 1] > 1.4 * data[k] && data[k + 1] > 1.4 * data[k + 2]);

for (const up of ["z", "y"]) {
  test(`first and last frame show every body in its place, ${up} up`, async () => {
    const recording = sample({ up });
    const page = await open(recording);
    for (const [frame, time] of [[0, 0], [20, 2]]) {
      await seek(page, time);
      assert.equal(await page.evaluate(() => window.sinew.index()), frame);
      await checkPlaces(page, recording, frame);
      const hand = await page.evaluate(() => window.sinew.projected("hand"));
      assert.ok(isGreen(await colours(page, hand)), `frame ${frame}: the green ball is not drawn where it should be`);
    }
    checkQuiet(page);
    await page.close();
  });
}

test("the page that a run writes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sinew-page-"));
  const scene = join(process.env.SINEW_SOURCE_DIR, "scenes/redmax/arm.yaml");
  for (const name of ["arm.snr", "arm.html"]) {
    execFileSync(process.env.SINEW, ["run", scene, "--duration", "0.3", "--out", join(folder, name), "--quiet"]);
  }
  const recording = readFileSync(join(folder, "arm.snr"));
  const page = await newPage(browser);
  await page.goto(pathToFileURL(join(folder, "arm.html")).href);
  await page.waitForFunction(() => window.sinew?.drawn > 0);
  await page.keyboard.press("Space");
  const { frames } = read(recording);
  for (const frame of [0, frames.length - 1]) {
    await seek(page, frames[frame].time);
    await checkPlaces(page, recording, frame);
  }
  checkQuiet(page);
  await page.close();
});

test("scrubbing with the mouse and with keys", async () => {
  const page = await open(sample());
  const bar = await page.locator("#scrub").boundingBox();
  await page.mouse.click(bar.x + bar.width / 2, bar.y + bar.height / 2);
  const middle = await page.evaluate(() => window.sinew.time());
  assert.ok(Math.abs(middle - 1) < 0.06, `the middle of the bar is ${middle} s`);
  await page.keyboard.press("Home");
  assert.equal(await page.evaluate(() => window.sinew.time()), 0);
  await page.keyboard.press("ArrowRight");
  assert.ok(Math.abs((await page.evaluate(() => window.sinew.time())) - 0.1) < 1e-12);
  await page.keyboard.press("End");
  assert.equal(await page.evaluate(() => window.sinew.time()), 2);
  await page.keyboard.press("Home");
  await page.keyboard.press("Space");
  await page.waitForFunction(() => window.sinew.time() > 0.3);
  checkQuiet(page);
  await page.close();
});

test("plots draw, take channels, and lead to a time", async () => {
  const page = await open(sample());
  await seek(page, 0);
  assert.deepEqual(await page.evaluate(() => window.sinew.plots()), { charts: 1, points: 21 });
  await page.click('[data-channel="left.q"]');
  await page.click('[data-channel="hand.pos.z"]');
  assert.deepEqual(await page.evaluate(() => window.sinew.plots()), { charts: 3, points: 21 });
  const inked = await page.evaluate(() => [...document.querySelectorAll(".chart canvas")].map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const columns = new Set(); // the line of the present time is one, a curve goes all the way
    for (let k = 0; k < data.length; k += 4) {
      if (data[k + 3] > 100 && Math.max(data[k], data[k + 1], data[k + 2]) - Math.min(data[k], data[k + 1], data[k + 2]) > 50) columns.add((k / 4) % canvas.width);
    }
    return columns.size / canvas.width;
  }));
  assert.ok(inked.length === 3 && inked.every((share) => share > 0.6), `share of the columns that are coloured: ${inked}`);
  const over = await page.locator(".chart .u-over").first().boundingBox();
  await page.mouse.click(over.x + over.width / 2, over.y + over.height / 2);
  const time = await page.evaluate(() => window.sinew.time());
  assert.ok(Math.abs(time - 1) < 0.05, `the middle of the plot is ${time} s`);
  await page.click(".series >> nth=0");
  assert.equal((await page.evaluate(() => window.sinew.plots())).charts, 2);
  checkQuiet(page);
  await page.close();
});

test("the tree selects and isolates", async () => {
  const page = await open(sample());
  await seek(page, 0);
  const shown = () => page.evaluate(() => ["post", "left", "hand", "right"].filter((name) => window.sinew.visible(name)));
  assert.deepEqual(await shown(), ["post", "left", "hand", "right"]);
  await page.click('[data-body="left"] .name');
  assert.equal(await page.evaluate(() => window.sinew.selected()), "left");
  await page.hover('[data-body="left"]');
  await drawn(page, () => page.click('[data-body="left"] .eye'));
  assert.deepEqual(await shown(), ["left", "hand"]);
  const post = project(await page.evaluate(() => window.sinew.camera()), "z", [0, 0, 0.2]);
  const grey = await colours(page, post, 1);
  assert.ok(grey.slice(0, 3).every((value) => value > 190), `the post is still drawn: ${grey.slice(0, 3)}`);
  await page.keyboard.press("Escape");
  assert.deepEqual(await shown(), ["post", "left", "hand", "right"]);
  assert.equal(await page.evaluate(() => window.sinew.selected()), null);
  const hand = await page.evaluate(() => window.sinew.projected("hand"));
  await page.mouse.click(hand.x, hand.y);
  assert.equal(await page.evaluate(() => window.sinew.selected()), "hand");
  checkQuiet(page);
  await page.close();
});

test("contacts are drawn where and when bodies touch, with the force on the body", async () => {
  const page = await open(sample());
  await page.keyboard.press("f"); // the arrow of another force would be in the way
  const camera = await page.evaluate(() => window.sinew.camera());
  const tip = project(camera, "z", [0, 0, 0.12]); // in the arrow, over the point [0, 0, 0]: the post is hidden
  await drawn(page, () => page.keyboard.press("b"));
  const isContact = async () => {
    const data = await colours(page, tip, 3);
    return data.some((_, k) => k % 4 === 0 && data[k] > 150 && data[k] > 1.5 * data[k + 1]);
  };
  for (const [time, touches] of [[0.15, true], [0.25, false], [0.35, true]]) {
    await seek(page, time);
    assert.equal(await isContact(), touches, `at ${time} s`);
  }
  await drawn(page, () => page.keyboard.press("c"));
  assert.equal(await isContact(), false, "the layer is off");
  checkQuiet(page);
  await page.close();
});

test("a soft surface of 30,000 vertices moves", async () => {
  const page = await open(softSample());
  const isSoft = async (point) => {
    const [red, green, blue] = await colours(page, project(await page.evaluate(() => window.sinew.camera()), "z", point), 0);
    return red > 1.15 * green && red > 1.15 * blue;
  };
  for (const [time, low, high] of [[0, true, false], [0.95, false, true]]) {
    await seek(page, time);
    assert.deepEqual([await isSoft([0, 0, 0.975]), await isSoft([0, 0, 1.949])], [low, high], `at ${time} s`);
  }
  assert.ok((await page.evaluate(() => window.sinew.cost(20))) > 0);
  checkQuiet(page);
  await page.close();
});

test("layers, views, help, light and dark", async () => {
  const page = await open(sample());
  for (const key of ["j", "x", "o", "c", "f", "s", "b", "b", "s", "1", "2", "3", "4", ".", "t", "t", "p", "p", "d", "+", "-", "l"]) {
    await page.keyboard.press(key);
  }
  await page.keyboard.press("?");
  assert.ok(await page.isVisible("#help"));
  await page.keyboard.press("Escape");
  assert.ok(await page.isHidden("#help"));
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.setViewportSize({ width: 800, height: 600 });
  await seek(page, 1);
  assert.equal(await page.evaluate(() => document.querySelector("#stage").clientWidth), 800);
  checkQuiet(page);
  await page.close();
});

test("a page without a recording opens one from a file, and says what is wrong with another", async () => {
  const page = await newPage(browser);
  await page.goto(pageFile(null));
  await page.waitForFunction(() => window.sinew?.ready);
  const folder = mkdtempSync(join(tmpdir(), "sinew-page-"));
  writeFileSync(join(folder, "bad.snr"), "this is no recording");
  writeFileSync(join(folder, "good.snr"), sample());
  await page.setInputFiles("#file", join(folder, "bad.snr"));
  await page.waitForSelector(".message.error");
  assert.match(await page.textContent("#messages"), /no recording of Sinew/);
  await page.setInputFiles("#file", join(folder, "good.snr"));
  await page.waitForFunction(() => window.sinew.frames === 21);
  assert.equal(await page.textContent("#scene-name"), "sample");
  checkQuiet(page);
  await page.close();
});

test("a browser without WebGL gets a word about it instead of an empty page", async () => {
  const page = await newPage(browser);
  await page.addInitScript(() => (HTMLCanvasElement.prototype.getContext = () => null));
  await page.goto(pageFile(sample()));
  await page.waitForSelector("#excuse");
  assert.match(await page.textContent("#excuse"), /needs WebGL 2/);
  await page.close();
});

test("the cost of a picture is measured without WebGL's share", async () => {
  const page = await open(sample());
  await page.keyboard.press("x");
  await seek(page, 2);
  const cost = await page.evaluate(() => window.sinew.cost(20));
  assert.ok(cost > 0 && Number.isFinite(cost), `${cost}`);
  await seek(page, 0);
  const hand = await page.evaluate(() => window.sinew.projected("hand"));
  assert.ok(isGreen(await colours(page, hand)), "WebGL does not draw after the measurement");
  checkQuiet(page);
  await page.close();
});
