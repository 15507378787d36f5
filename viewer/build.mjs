// Bundles the page into one HTML file, and that file into a C array for the command.
//
//     node build.mjs PAGE.html PAGE.c
//
// The page may ask nothing of the network, so style, script and icon are written into it.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2020",
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
    outdir: here,
  });
  return result.outputFiles[0].text;
}

/** `text` behind the one place where `mark` stands; a function, because `$&` has a meaning in a string. */
function put(page, mark, text) {
  if (page.split(mark).length !== 2) throw new Error(`index.html: '${mark}' must be there once`);
  return page.replace(mark, () => text);
}

/** Licences of what is bundled ask for their notices to go with it. */
async function notices() {
  const lines = [];
  for (const name of ["three", "uplot"]) {
    const about = JSON.parse(await readFile(join(here, "node_modules", name, "package.json"), "utf8"));
    const licence = await readFile(join(here, "node_modules", name, "LICENSE"), "utf8");
    lines.push(`${name} ${about.version}\n\n${licence.trim()}\n`);
  }
  return lines.join("\n").replaceAll("--", "- -");
}

function inC(bytes) {
  const rows = [];
  for (let k = 0; k < bytes.length; k += 32) rows.push([...bytes.subarray(k, k + 32)].join(","));
  return `/* Made from viewer/ by build.mjs: the page of the viewer. */
#include "cli/page.h"

static const unsigned char html[] = {
${rows.join(",\n")}};

const unsigned char *const cli_page = html;
const size_t cli_page_size = sizeof html;
`;
}

const [, , htmlFile, cFile] = process.argv;
if (!htmlFile || !cFile) throw new Error("usage: node build.mjs PAGE.html PAGE.c");
let page = await readFile(join(here, "src/index.html"), "utf8");
page = put(page, "/* style */", await bundle("src/style.css"));
page = put(page, "/* script */", (await bundle("src/main.ts")).replaceAll("</script", "<\\/script"));
page = put(page, "notices of licences", await notices());
for (const file of [htmlFile, cFile]) await mkdir(dirname(file), { recursive: true });
await writeFile(htmlFile, page);
await writeFile(cFile, inC(Buffer.from(page)));
