// Builds the single executable: `node tools/build-binary.ts [FOLDER]` writes FOLDER/cattail (default dist/binary). It is
// this Node with everything inside: the bundled program, the worker threads' program, the page and the native codecs.
// What src/ reads from files is replaced, while bundling, by what tools/binary/ reads from inside the executable.
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import { bundlePage } from "./bundle-page.ts";

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

const output = resolve(process.argv[2] ?? "dist/binary");
const work = mkdtempSync(join(tmpdir(), "cattail-build-"));
try {
  mkdirSync(output, { recursive: true });
  const assets: { [name: string]: string } = {
    "worker.js": await bundle("src/server/worker.ts", "worker.js"),
    "snappy.node": addon("@napi-rs/snappy"),
    "crc32.node": addon("@node-rs/crc32"),
  };
  for (const [name, content] of await bundlePage(process.cwd())) {
    assets[`web/${name}`] = join(work, name);
    writeFileSync(join(work, name), content);
  }
  const config = {
    main: await bundle("src/cli/main.ts", "main.js"),
    mainFormat: "module",
    output: join(output, process.platform === "win32" ? "cattail.exe" : "cattail"),
    disableExperimentalSEAWarning: true,
    assets,
  };
  writeFileSync(join(work, "config.json"), JSON.stringify(config));
  execFileSync(process.execPath, ["--build-sea", join(work, "config.json")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  // A Mac runs nothing that is not signed, and adding to an executable breaks its signature.
  if (process.platform === "darwin") execFileSync("codesign", ["--sign", "-", "--force", config.output]);
  console.log(`built ${config.output}`);
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function bundle(entry: string, name: string): Promise<string> {
  const path = join(work, name);
  await build({
    entryPoints: [entry],
    outfile: path,
    bundle: true,
    platform: "node",
    target: "node26",
    format: "esm",
    minifySyntax: true,
    minifyWhitespace: true, // names stay, for stack traces
    legalComments: "none",
    logLevel: "error",
    define: {
      CATTAIL_BUILD: JSON.stringify({ version: `v${packageVersion()}`, commit: commit() }),
      // A module inside an executable loses it once its first turn is over.
      "import.meta.url": JSON.stringify("file:///cattail/main.js"),
    },
    // CommonJS dependencies ask for Node's own modules with require(), which a module inside an executable has not got.
    banner: {
      js: `const require = (id) => { const found = process.getBuiltinModule(id); if (found === undefined) throw new Error("no module " + id); return found; };`,
    },
    plugins: [insideExecutable],
  });
  return path;
}

/** The addon that `npm ci` installed for this machine. */
function addon(name: string): string {
  const [path, ...others] = globSync(`node_modules/${name}-${process.platform}-${process.arch}*/*.node`).sort();
  if (path === undefined || others.length > 0) {
    throw new Error(
      `one ${name} for ${process.platform}-${process.arch} is needed in node_modules: run "npm ci" there`,
    );
  }
  return resolve(path);
}

function packageVersion(): string {
  return (JSON.parse(readFileSync("package.json", "utf8")) as { version: string }).version; // our own file
}

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short=12", "HEAD"], { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return process.env.CATTAIL_COMMIT ?? "unknown"; // built from an archive, or in an image without git
  }
}
