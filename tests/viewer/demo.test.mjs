// The demo: a bridge whose cables go from 1 to 1e8 N/m while it is being dragged, beside the figures of other engines.

import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { join } from "node:path";
import { launch, newPage } from "./browser.mjs";

let browser, command, address;
before(async () => {
  const source = process.env.SINEW_SOURCE_DIR;
  const panel = join(source, "scripts/demo_panel.json");
  command = spawn(process.env.SINEW, ["view", join(source, "scenes/redmax/bridge.yaml"), "--panel", panel], { stdio: ["ignore", "pipe", "inherit"] });
  address = await new Promise((resolve, reject) => {
    command.stdout.on("data", (bytes) => resolve(String(bytes).trim()));
    command.on("exit", (code) => reject(new Error(`sinew view ended with ${code}`)));
  });
  browser = await launch();
});
after(async () => {
  command?.kill("SIGINT");
  await browser?.close();
});

const status = (page) => page.evaluate(() => window.sinew.status());

/** Moves the slider of the cables, and waits for the time to go on by a while. */
async function setStiffness(page, position) {
  await page.$eval(".slider.pinned input[type=range]", (slider, value) => {
    slider.value = String(value);
    slider.dispatchEvent(new Event("input"));
  }, position);
  const { t } = await status(page);
  await page.waitForFunction((before) => window.sinew.status().t > before + 0.3, t);
}

test("cables change from rubber to steel while the bridge is pulled", async () => {
  const page = await newPage(browser);
  await page.goto(address);
  await page.waitForFunction(() => window.sinew?.frames > 1 && window.sinew.status()?.t > 0);
  assert.match(await page.textContent("#story"), /largest stable step.*Bullet.*Simbody.*Sinew/s);
  assert.match(await page.textContent(".slider.pinned"), /Stiffness of the cables/);

  const from = await page.evaluate(() => window.sinew.projected("deck_21"));
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x, from.y + 40, { steps: 4 });
  await page.waitForFunction(() => window.sinew.status().grabs.length === 1);
  for (const position of [0, 1000, 250, 1000]) {
    await setStiffness(page, position);
    const { stopped, energy, grabs } = await status(page);
    assert.equal(stopped, false, `stopped with the slider at ${position}`);
    assert.ok(Number.isFinite(energy.T) && Number.isFinite(energy.V), `energy with the slider at ${position}`);
    assert.equal(grabs.length, 1, "the hand has let go");
  }
  assert.equal(await page.inputValue(".slider.pinned .field"), "1e8");
  if (process.env.SINEW_SHOT) await page.screenshot({ path: process.env.SINEW_SHOT });
  await page.mouse.up();
  await page.waitForFunction(() => window.sinew.status().grabs.length === 0);
  assert.equal(await page.locator(".message").count(), 0);
  assert.deepEqual(page.complaints, []);
  await page.close();
});
