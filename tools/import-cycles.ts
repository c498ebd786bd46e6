// Which files of a tree import each other in a circle. A circle of types costs nothing at run time, but has no file that
// can be read, tested or moved first; so types count as well.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";

export type ImportGraph = ReadonlyMap<string, readonly string[]>;

const importPattern = /(?:from\s+|import\s*\(\s*|import\s+)["'](\.[\w./-]*)["']/g;

/** What each TypeScript file under the folder imports of the others, tests left out. */
export function importGraph(folder: string): ImportGraph {
  const files = globSync(`${folder}/**/*.ts`).filter((file) => !/\.(test|bench)\.ts$/.test(file));
  return new Map(
    files.map((file) => {
      const specifiers = [...readFileSync(file, "utf8").matchAll(importPattern)].map(([, specifier = ""]) => specifier);
      return [slashed(file), specifiers.map((specifier) => slashed(normalize(join(dirname(file), specifier))))];
    }),
  );
}

/**
 * Groups of files of which each reaches every other (Tarjan's strongly connected components), and files that import
 * themselves. No recursion: a chain of imports may be long.
 */
export function importCycles(graph: ImportGraph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const cycles: string[][] = [];
  const low = (file: string): number => lowest.get(file) ?? 0;
  for (const start of graph.keys()) {
    if (order.has(start)) continue;
    const path = [enter(start)];
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const { file, rest } = visit;
      const next = rest.next();
      if (next.done === true) {
        path.pop();
        const importer = path.at(-1);
        if (importer !== undefined) lowest.set(importer.file, Math.min(low(importer.file), low(file)));
        if (low(file) === order.get(file)) close(file);
      } else if (!order.has(next.value)) {
        if (graph.has(next.value)) path.push(enter(next.value));
      } else if (isOpen.has(next.value)) {
        lowest.set(file, Math.min(low(file), order.get(next.value) ?? 0));
      }
    }
  }
  return cycles;

  function enter(file: string): { file: string; rest: Iterator<string> } {
    lowest.set(file, order.size);
    order.set(file, order.size);
    open.push(file);
    isOpen.add(file);
    return { file, rest: (graph.get(file) ?? [])[Symbol.iterator]() };
  }

  function close(file: string): void {
    const group = open.splice(open.indexOf(file));
    for (const member of group) isOpen.delete(member);
    if (group.length > 1 || graph.get(file)?.includes(file)) cycles.push(group.sort());
  }
}

function slashed(path: string): string {
  return path.split(sep).join("/");
}
