// What the dashboard serves: the page's three files, each at its path. Nothing else ever is: the names are a fixed list.
import { pageFiles } from "./page-files.ts";

export type Asset = { readonly type: string; readonly body: Uint8Array };
export type Assets = ReadonlyMap<string, Asset>;

const names = [
  { path: "/", file: "index.html", type: "text/html; charset=utf-8" },
  { path: "/page.js", file: "page.js", type: "text/javascript; charset=utf-8" },
  { path: "/page.css", file: "page.css", type: "text/css; charset=utf-8" },
] as const;

export const assetPaths: readonly string[] = names.map(({ path }) => path);

export async function loadAssets(): Promise<Assets> {
  const files = await pageFiles(names.map(({ file }) => file));
  return new Map(names.map(({ path, file, type }) => [path, { type, body: files.get(file) ?? new Uint8Array() }]));
}
