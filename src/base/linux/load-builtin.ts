// Loads a part of Node that not every Node has, or that warns of itself, when it is first needed: whoever imports this room does
// not pay for it.
import { CattailError } from "../lib/index.ts";

const since: { readonly [name: string]: string } = { "node:ffi": "26.1", "node:sqlite": "22.13" };

/** Whether this Node has it. */
export function hasBuiltin(name: "node:ffi" | "node:sqlite"): boolean {
  return quietly(() => process.getBuiltinModule(name)) !== undefined;
}

/** The types are the caller's word: it names the module it wants. */
export function loadBuiltin<Module>(name: "node:ffi" | "node:sqlite"): Module {
  const module = quietly(() => process.getBuiltinModule(name)) as Module | undefined;
  if (module !== undefined) return module;
  throw new CattailError("NODE_TOO_OLD", {
    problem: `this Node (${process.version}) has no ${name}, which this command needs to talk to the kernel`,
    next: `Use Node ${since[name]} or newer, and do not switch it off (--no-experimental-${name.slice("node:".length)})`,
  });
}

// Both say once that they are experimental. That is known and argued in docs/decisions; a user can do nothing about it.
function quietly<T>(load: () => T): T {
  const warn = process.emitWarning;
  process.emitWarning = () => undefined;
  try {
    return load();
  } finally {
    process.emitWarning = warn;
  }
}
