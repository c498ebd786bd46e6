// Builds the single executable: `node tools/build-binary.ts [FOLDER]` writes FOLDER/cattail (default dist/binary). It is
// this Node with everything inside: the bundled program, the worker threads' program, the page and the native codecs.
// What src/ reads from files is replaced, while bundling, by what tools/binary/ reads from inside the executable. Beside it
// lies FOLDER/licences.txt: the licences of everything inside, Node's included.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import { bundlePageWithInputs } from "./bundle-page.ts";
import { sparingBuiltins, sparingMetrics } from "./bundle-programs.ts";
import { buildNote } from "./release/build-note.ts";
import { notices, packagesRead } from "./release/notices.ts";
import { serverFlags } from "./server-flags.ts";

const replacements: readonly { readonly filter: RegExp; readonly by: string }[] = [
  { filter: /^\.\/worker-entry\.ts$/, by: "tools/binary/worker-entry.ts" },
  { filter: /^\.\/page-files\.ts$/, by: "tools/binary/page-files.ts" },
  { filter: /^snappy$/, by: "tools/binary/snappy.ts" },
  { filter: /^@node-rs\/crc32$/, by: "tools/binary/crc32.ts" },
];

const insideExecutable = {
  name: "inside-executable",
  setup({ onResolve }) {
    for (const { filter, by } of replacements) onResolve({ filter }, () => ({ path: resolve(by) }));
  },
} satisfies Plugin;

// What went into it; the native codecs are not read by the bundler.
const inputs = new Set(["node_modules/snappy/index.js", "node_modules/@node-rs/crc32/index.js"]);
const output = resolve(outputFolder(process.argv.slice(2)));
const work = mkdtempSync(join(tmpdir(), "cattail-build-"));
try {
  mkdirSync(output, { recursive: true });
  const assets: { [name: string]: string } = {
    "worker.js": await bundle("src/typha/server/threads/worker.ts", "worker.js"),
    "snappy.node": addon("@napi-rs/snappy"),
    "crc32.node": addon("@node-rs/crc32"),
  };
  const page = await bundlePageWithInputs(process.cwd());
  for (const input of page.inputs) inputs.add(input);
  for (const [name, content] of page.files) {
    assets[`web/${name}`] = join(work, name);
    writeFileSync(join(work, name), content);
  }
  assets["program.js"] = asScript(await bundle("src/programs/main/main.ts", "program.js"));
  await bundle("tools/binary/start.ts", "main.js", "cjs");
  const config = {
    main: "main.js", // the executable keeps this path, and must not keep where it was built
    mainFormat: "commonjs",
    output: join(output, process.platform === "win32" ? "cattail.exe" : "cattail"),
    disableExperimentalSEAWarning: true,
    execArgv: serverFlags,
    assets,
  };
  writeFileSync(join(work, "config.json"), JSON.stringify(config));
  execFileSync(process.execPath, ["--build-sea", "config.json"], { cwd: work, stdio: ["ignore", "ignore", "inherit"] });
  // A Mac runs nothing that is not signed, and adding to an executable breaks its signature.
  if (process.platform === "darwin") execFileSync("codesign", ["--sign", "-", "--force", config.output]);
  writeFileSync(join(output, "licences.txt"), `${notices(packagesRead(inputs))}\n${nodeNotice()}`);
  console.log(`built ${config.output}`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** One word at most, and no option: an option would be a folder of that name. */
function outputFolder(words: readonly string[]): string {
  const [folder = "dist/binary", ...more] = words;
  if (more.length === 0 && folder !== "" && !folder.startsWith("-")) return folder;
  const isHelp = words.length === 1 && ["--help", "-h"].includes(folder);
  (isHelp ? console.log : console.error)(
    "usage: npm run build:binary -- [FOLDER]   writes FOLDER/cattail and FOLDER/licences.txt (FOLDER: dist/binary)",
  );
  process.exit(isHelp ? 0 : 2);
}

async function bundle(entry: string, name: string, format: "esm" | "cjs" = "esm"): Promise<string> {
  const path = join(work, name);
  const { metafile } = await build({
    metafile: true,
    preserveSymlinks: true, // the bundle keeps the names of what it was made of: below this folder, wherever they lie
    entryPoints: [entry],
    outfile: path,
    bundle: true,
    platform: "node",
    target: "node26",
    format,
    minifySyntax: true,
    minifyWhitespace: true, // names stay, for stack traces
    legalComments: "none",
    logLevel: "error",
    define: {
      CATTAIL_BUILD: JSON.stringify(buildNote()),
      // A module inside an executable loses it once its first turn is over.
      "import.meta.url": JSON.stringify("file:///cattail/main.js"),
      "import.meta.dirname": JSON.stringify("/cattail"),
    },
    // CommonJS dependencies ask for Node's own modules with require(), which a module inside an executable has not got.
    banner:
      format === "cjs"
        ? {}
        : {
            js: `const require = (id) => { const found = process.getBuiltinModule(id); if (found === undefined) throw new Error("no module " + id); return found; };`,
          },
    plugins: [sparingMetrics, sparingBuiltins, insideExecutable],
  });
  for (const input of Object.keys(metafile.inputs)) inputs.add(input);
  return path;
}

/** Of a module that imports nothing, a script that tools/binary/start.ts runs: a module could only be the executable's main, and be read at every start. */
function asScript(path: string): string {
  // ASCII, because start.ts reads it byte by byte. The bundler leaves other letters in regular expressions alone, which take the escaped form as well.
  const text = readFileSync(path, "utf8").replace(/[^\0-\x7f]/g, (letter) => {
    return `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
  const line = text.split("\n").find((each) => /^\s*(?:import|export)\b|\bimport\.meta\b/.test(each));
  if (line !== undefined) throw new Error(`the program must be bundled whole, and has: ${line.slice(0, 200)}`);
  writeFileSync(path, `(async () => {"use strict";${text}\n})()`);
  return path;
}

/** The addon that `npm ci` installed for this machine. An old npm brings those of every C library: then the one that this Node is linked to. */
function addon(name: string): string {
  const found = globSync(`node_modules/${name}-${process.platform}-${process.arch}*/*.node`).sort();
  const library = isGlibc() ? "-gnu" : "-musl";
  const [path, ...others] = found.length === 1 ? found : found.filter((each) => dirname(each).endsWith(library));
  if (path === undefined || others.length > 0) {
    throw new Error(
      `one ${name} for ${process.platform}-${process.arch} is needed in node_modules: run "npm ci" there`,
    );
  }
  return resolve(path);
}

function isGlibc(): boolean {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }; // as Node documents it
  return header.glibcVersionRuntime !== undefined;
}

/** The text of this Node, where it lies beside it, as in an archive or a package of Node. */
function nodeNotice(): string {
  const file = resolve(dirname(realpathSync(process.execPath)), "../LICENSE");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "See https://github.com/nodejs/node/blob/main/LICENSE";
  return `Node.js ${process.version}\n\n${text.trim()}\n`;
}
