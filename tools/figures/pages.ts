// Puts tables between the markers of a page, and makes everything that is made from results: pages and plots by file name.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { reliabilityBlocks } from "./campaign-tables.ts";
import { goalTable } from "./goal-table.ts";
import { nodeBlocks } from "./node-tables.ts";
import { pictures, plotsFolder } from "./pictures.ts";
import type { Sitting } from "./sitting.ts";
import { type Block, typhaBlocks } from "./tables.ts";

/** By page, so that a test sees that every step has its block. */
export const performanceBlocks: { readonly [name: string]: Block } = {
  goals: goalTable,
  ...typhaBlocks,
  ...nodeBlocks,
};
const pages: readonly { readonly file: string; readonly blocks: { readonly [name: string]: Block } }[] = [
  { file: "README.md", blocks: performanceBlocks },
  { file: "docs/performance.md", blocks: performanceBlocks },
  { file: "docs/reliability.md", blocks: reliabilityBlocks },
];

/** Every file that is made from the results, with what should be in it. */
export function madeFrom(sitting: Sitting): Map<string, string> {
  const made = new Map<string, string>();
  for (const { file, blocks } of pages) made.set(file, fill(readFileSync(file, "utf8"), blocks, sitting));
  for (const [name, content] of pictures(sitting)) made.set(join(plotsFolder, name), content);
  return made;
}

/** What stands between <!-- figures:NAME --> and <!-- /figures:NAME --> is replaced; the rest of the page is its writer's. */
export function fill(page: string, blocks: { readonly [name: string]: Block }, sitting: Sitting): string {
  const names = [...page.matchAll(/<!-- figures:(\S+) -->/g)].map(([, name = ""]) => name);
  let filled = page;
  for (const name of names) {
    const make = blocks[name];
    const [start, end] = [`<!-- figures:${name} -->`, `<!-- /figures:${name} -->`];
    const [from, to] = [filled.indexOf(start) + start.length, filled.indexOf(end)];
    if (make === undefined) throw new Error(`there is no table "${name}": ${Object.keys(blocks).join(", ")}`);
    if (to < from) throw new Error(`"${start}" is not closed by "${end}"`);
    filled = `${filled.slice(0, from)}\n${make(sitting)}\n${filled.slice(to)}`;
  }
  return filled;
}
