// A browser for the tests: Debian's Chromium without a screen, drawing by software, and nothing but what
// the page itself asks for on the network.

import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const PROGRAMS = [process.env.SINEW_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--enable-unsafe-swiftshader", "--use-angle=swiftshader",
];

export function launch() {
  const executablePath = PROGRAMS.find((program) => program && existsSync(program));
  if (!executablePath) throw new Error("there is no Chromium: apt-get install chromium, or set SINEW_CHROMIUM");
  return chromium.launch({ executablePath, args: FLAGS });
}

/** A page that remembers what it complained about and what it asked of the network. */
export async function newPage(browser, { width = 1120, height = 560, colorScheme = "light" } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  page.setDefaultTimeout(120_000); // drawing by software on a busy machine is slow
  page.complaints = [];
  page.asked = [];
  page.on("console", (message) => message.type() === "error" && page.complaints.push(message.text()));
  page.on("pageerror", (error) => page.complaints.push(error.message));
  page.on("request", (request) => page.asked.push(request.url()));
  return page;
}

const EMPTY = '<script type="application/x-sinew-recording" id="recording"></script>';

/** The built page with a recording in it, as a file; null: without one. */
export function pageFile(recording) {
  const built = readFileSync(join(process.env.SINEW_BUILD_DIR, "viewer/page.html"), "utf8");
  const parts = built.split(EMPTY);
  if (parts.length !== 2) throw new Error("the built page has not exactly one place for a recording");
  const text = recording ? recording.toString("base64") : "";
  const file = join(mkdtempSync(join(tmpdir(), "sinew-page-")), "page.html");
  writeFileSync(file, parts.join(EMPTY.replace("></", () => `>${text}</`)));
  return pathToFileURL(file).href;
}

/** Does something that changes the picture, and waits until that has been drawn. */
export async function drawn(page, act) {
  const before = await page.evaluate(() => window.sinew.drawn);
  await act();
  await page.waitForFunction((n) => window.sinew.drawn > n, before);
}

/** Goes to a time, and waits for its picture. */
export async function seek(page, time) {
  await drawn(page, () => page.evaluate((t) => window.sinew.seek(t), time));
}

const multiply = (m, v) => [0, 1, 2, 3].map((row) => m[row] * v[0] + m[4 + row] * v[1] + m[8 + row] * v[2] + m[12 + row] * v[3]);

/** Where a point of the recording belongs in the window, from the camera's matrices alone. */
export function project(camera, up, [x, y, z]) {
  const world = up === "z" ? [x, z, -y, 1] : [x, y, z, 1];
  const clip = multiply(camera.projection, multiply(camera.view, world));
  return { x: ((clip[0] / clip[3] + 1) / 2) * camera.width, y: ((1 - clip[1] / clip[3]) / 2) * camera.height };
}
