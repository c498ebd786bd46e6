// Bundles the dashboard's page (web/) into three files. `npm run build` writes them to dist/web; in a checkout the
// dashboard calls this when it starts.
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { build } from "esbuild";

export async function bundlePage(root: string): Promise<Map<string, Uint8Array>> {
  const { outputFiles } = await build({
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
  });
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
  return files.set("index.html", await readFile(join(root, "web/index.html")));
}
