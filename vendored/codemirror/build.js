// Build static/vendor/codemirror.js, and next to it a file with the license of each package in it.
// After a change to the pins in package.json, run `npm install --omit-lockfile-registry-resolved` and `npm run build`
// in this folder with Node 20, and commit static/vendor.
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const TO = "../../static/vendor/codemirror";

const { metafile } = await build({
  entryPoints: ["library.js"],
  outfile: `${TO}.js`,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  metafile: true,
  banner: { js: "// CodeMirror 6, built by vendored/codemirror/build.js; its licences stand in codemirror.LICENSE.txt." },
});

const folders = new Set(
  Object.keys(metafile.inputs).flatMap((file) => file.match(/^node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []),
);
const licences = [...folders].sort().map((folder) => {
  const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  return `${name} ${version}\n\n${readFileSync(`${folder}/LICENSE`, "utf8").trim()}\n`;
});
writeFileSync(`${TO}.LICENSE.txt`, licences.join(`\n${"-".repeat(80)}\n\n`));
