// Validates glTF files: node validate.mjs FILE...
import fs from "node:fs";
import process from "node:process";
import validator from "gltf-validator";

let bad = 0;
const files = process.argv.slice(2);
for (const file of files) {
  const { issues } = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)));
  if (issues.numErrors + issues.numWarnings > 0) {
    bad++;
    console.error(`${file}: ${issues.numErrors} errors, ${issues.numWarnings} warnings`);
    for (const m of issues.messages.slice(0, 20)) console.error(`  ${m.code} ${m.pointer}: ${m.message}`);
  }
}
console.log(`${files.length} files, ${bad} bad`);
process.exit(bad > 0 || files.length === 0 ? 1 : 0);
