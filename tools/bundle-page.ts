// Bundles the dashboard's page (web/) into three files. `npm run build` writes them to dist/web; in a checkout the
// dashboard calls this when it starts.
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";

export async function bundlePage(root: string): Promise<Map<string, Uint8Array>> {
  return (await bundlePageWithInputs(root)).files;
}

/** The files, and what was read to make them, from the root. */
export async function bundlePageWithInputs(
  root: string,
): Promise<{ files: Map<string, Uint8Array>; inputs: readonly string[] }> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { page: "web/main.tsx" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    jsx: "automatic",
    jsxImportSource: "preact",
    outdir: "dist/web",
    legalComments: "none",
    write: false,
    metafile: true,
    preserveSymlinks: true, // what was read is named as it lies below the root
  });
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
  files.set("index.html", await readFile(join(root, "web/index.html")));
  return { files, inputs: Object.keys(metafile.inputs) };
}
