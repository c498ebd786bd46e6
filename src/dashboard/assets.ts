// The page's files. A package has them built in dist/web; a checkout bundles web/ in memory when first asked, so that
// nobody has to build before looking. Nothing else is ever served: the names are a fixed list.
import { readFile } from "node:fs/promises";

export type Asset = { readonly type: string; readonly body: Uint8Array };
export type Assets = ReadonlyMap<string, Asset>;

const names = [
  { path: "/", file: "index.html", type: "text/html; charset=utf-8" },
  { path: "/page.js", file: "page.js", type: "text/javascript; charset=utf-8" },
  { path: "/page.css", file: "page.css", type: "text/css; charset=utf-8" },
] as const;

export async function loadAssets(): Promise<Assets> {
  const isCheckout = import.meta.url.endsWith(".ts");
  const files = isCheckout
    ? await bundle(new URL("../../", import.meta.url))
    : await built(new URL("../web/", import.meta.url));
  return new Map(names.map(({ path, file, type }) => [path, { type, body: files.get(file) ?? new Uint8Array() }]));
}

async function built(folder: URL): Promise<Map<string, Uint8Array>> {
  const read = names.map(async ({ file }) => [file, await readFile(new URL(file, folder))] as const);
  return new Map(await Promise.all(read));
}

async function bundle(root: URL): Promise<Map<string, Uint8Array>> {
  // Only a checkout comes here, and only a checkout has the bundler; a package must not even look for it.
  const { bundlePage } = (await import(new URL("tools/bundle-page.ts", root).href)) as {
    bundlePage: (root: string) => Promise<Map<string, Uint8Array>>; // our own tool, outside src/ because it is not shipped
  };
  return bundlePage(root.pathname);
}
