// Where the page's files come from. A package has them built in dist/web; a checkout bundles web/ in memory when first
// asked, so that nobody has to build before looking. The single executable is built with tools/binary/page-files.ts in
// place of this module.
import { readFile } from "node:fs/promises";

export async function pageFiles(names: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
  const isCheckout = import.meta.url.endsWith(".ts");
  return isCheckout
    ? bundle(new URL("../../../", import.meta.url))
    : built(new URL("../../web/", import.meta.url), names);
}

async function built(folder: URL, names: readonly string[]): Promise<Map<string, Uint8Array>> {
  const read = names.map(async (name) => [name, await readFile(new URL(name, folder))] as const);
  return new Map(await Promise.all(read));
}

async function bundle(root: URL): Promise<Map<string, Uint8Array>> {
  // Only a checkout comes here, and only a checkout has the bundler; a package must not even look for it.
  const { bundlePage } = (await import(new URL("tools/bundle-page.ts", root).href)) as {
    bundlePage: (root: string) => Promise<Map<string, Uint8Array>>; // our own tool, outside src/ because it is not shipped
  };
  return bundlePage(root.pathname);
}
