// Bundles programs into few files that share what they have in common, as the package has them: to find, read and link
// five hundred modules takes a Node longer than to run them (docs/decisions/0023-lean-start.md). Names and lines stay, for
// stack traces.
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";

/** Not bundled: native code, which npm installs for the machine at hand. */
const native = ["snappy", "@node-rs/crc32"];

// Parts lie two folders deep, like the programs, so that what is found relative to a module is found from both.
const partNames = "parts/chunks/[name]-[hash]";

/** The one module that is found from another depth. */
const workerEntry = {
  name: "worker-entry",
  setup({ onLoad }) {
    const contents = `export const workerEntry = () => new URL("../../typha/server/threads/worker.js", import.meta.url);`;
    onLoad({ filter: /threads\/worker-entry\.ts$/ }, () => ({ contents, loader: "js" }));
  },
} satisfies Plugin;

/** ctl and the usual commands of a node are bundled by themselves, and lie where their first module would. */
const keptEntries = {
  name: "kept-entries",
  setup({ onResolve }) {
    const found = [
      { filter: /\/ctl\/process-console\.ts$/, path: "../../programs/ctl/process-console.js" },
      { filter: /\/starting\/start\.ts$/, path: "../../programs/node/start.js" },
    ];
    for (const { filter, path } of found)
      onResolve({ filter }, ({ kind }) => (kind === "dynamic-import" ? { path, external: true } : undefined));
  },
} satisfies Plugin;

/**
 * Node's own modules, of which only what is used is read. Imported as ES modules, all that they export is read once, and
 * node:http then loads a whole second HTTP client for its WebSocket: 45 ms and 15 MB at every start.
 */
export const sparingBuiltins = {
  name: "sparing-builtins",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === "require-call" ? { path, external: true } : { path, namespace: "builtin", sideEffects: false },
    );
    onLoad({ filter: /.*/, namespace: "builtin" }, ({ path }) => ({ contents: builtinModule(path), loader: "js" }));
  },
} satisfies Plugin;

function builtinModule(name: string): string {
  const names = Object.keys(process.getBuiltinModule(name) ?? {}).filter((key) => /^[A-Za-z_$][\w$]*$/.test(key));
  return [
    `const it = process.getBuiltinModule(${JSON.stringify(name)});`,
    "export default it;",
    // What nobody imports is left out, because the bundler is told that to ask changes nothing.
    ...names
      .filter((key) => key !== "default")
      .map((key) => `export const ${key} = /* @__PURE__ */ (() => it.${key})();`),
  ].join("\n");
}

/** Of prom-client, what is used here, and when it is used: all of it loads two dozen modules of Node at every start. */
export const sparingMetrics = {
  name: "sparing-metrics",
  setup({ onLoad }) {
    const used = { Registry: "registry", Counter: "counter", Gauge: "gauge", collectDefaultMetrics: "defaultMetrics" };
    const getters = Object.entries(used).map(([name, file]) => `get ${name}() { return require("./lib/${file}"); }`);
    const contents = `module.exports = { ${getters.join(", ")} };`;
    onLoad({ filter: /\/prom-client\/index\.js$/ }, () => ({ contents, loader: "js" }));
  },
} satisfies Plugin;

/** What is the same for everything that is bundled. */
const common = {
  bundle: true,
  platform: "node",
  target: "node24",
  external: native,
  preserveSymlinks: true, // the same names wherever the checkout and its packages lie
  legalComments: "none", // dist/licences.txt has them whole
  logLevel: "warning",
  metafile: true,
} satisfies BuildOptions;

/**
 * One program in one file, as a function that defines what it exports; `import.meta.url` and `require` are handed in (tools/package/run-kept.ts). What it imports
 * late is inside and starts when it is asked for; so do most of Node's own modules, because what is imported from them is read where it is used.
 */
export async function bundleWhole(entry: string, outfile: string): Promise<string[]> {
  const { metafile } = await build({
    ...common,
    entryPoints: [entry],
    outfile,
    format: "cjs",
    define: { "import.meta.url": "bundleUrl" },
    // Here and not when it is run: the text would be in memory twice.
    banner: { js: "(function (exports, require, module, bundleUrl) {" },
    footer: { js: "})" },
    plugins: [sparingMetrics],
  });
  return inputsOf(metafile);
}

function inputsOf({ inputs }: Metafile): string[] {
  return Object.keys(inputs).filter((input) => !input.startsWith("builtin:"));
}

/** What the bundler read; the files lie in `into` as the sources do in src/, or where `out` says. */
export async function bundlePrograms(
  entryPoints: readonly (string | { readonly in: string; readonly out: string })[],
  into: string,
  define: { readonly [name: string]: string } = {},
): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: entryPoints.map((entry) =>
      typeof entry === "string" ? { in: entry, out: entry.slice("src/".length, -".ts".length) } : entry,
    ),
    ...common,
    outdir: into,
    splitting: true,
    chunkNames: partNames,
    format: "esm",
    allowOverwrite: true,
    define,
    // CommonJS packages ask for Node's own modules with require(), which an ES module has not got.
    banner: { js: "const require = (id) => process.getBuiltinModule(id);" },
    plugins: [sparingMetrics, sparingBuiltins, workerEntry, keptEntries],
  });
  return inputsOf(metafile);
}
