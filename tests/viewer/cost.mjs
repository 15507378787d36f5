// How many milliseconds of script a picture takes, by the number of bodies: what the processor has to do for the page
// beside the graphics card. Prints a table; `node cost.mjs [BODIES...]` with SINEW and SINEW_BUILD_DIR set.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { softSample } from "./snr.mjs";
import { launch, newPage, pageFile } from "./browser.mjs";

const PICTURES = 200;

function chain(bodies) {
  const folder = mkdtempSync(join(tmpdir(), "sinew-cost-"));
  const link = (k) => `  b${k}: {parent: ${k ? `b${k - 1}` : "world"}, joint: {type: spherical, at: [${k ? 0.1 : 0}, 0, 0]}, shapes: [{type: capsule, from: [0, 0, 0], to: [0.1, 0, 0], radius: 0.01, density: 1000}]}`;
  writeFileSync(join(folder, "chain.yaml"), `sinew: 1\nbodies:\n${Array.from({ length: bodies }, (_, k) => link(k)).join("\n")}\nrun: {duration: 0.5, record: {every: 0.01}}\n`);
  execFileSync(process.env.SINEW, ["run", join(folder, "chain.yaml"), "--out", join(folder, "chain.snr"), "--quiet", "--channels", "E"]);
  return readFileSync(join(folder, "chain.snr"));
}

const browser = await launch();

async function measure(what, recording, pictures) {
  const page = await newPage(browser);
  await page.goto(pageFile(recording));
  await page.waitForFunction(() => window.sinew?.drawn > 0);
  await page.keyboard.press("Space");
  const ms = await page.evaluate((n) => (window.sinew.cost(n), window.sinew.cost(n)), pictures);
  console.log(`${what}: ${ms.toFixed(2)} ms of script a picture, ${await page.evaluate(() => window.sinew.draws())} draws`);
  await page.close();
}

for (const bodies of process.argv.length > 2 ? process.argv.slice(2).map(Number) : [100, 1000]) await measure(`${bodies} bodies`, chain(bodies), PICTURES);
await measure("a soft surface of 30,000 vertices", softSample({ frames: 40 }), 40);
await browser.close();
