// Which test files each command runs. A file is where it is because of what it needs, so its folder decides.

/** quick: npm run check; usual: npm test; rest: what usual leaves out; all: npm run test:all. */
export type Part = "quick" | "usual" | "rest" | "all";

/** Take minutes: they do what an engineer or an operator does, from the first step to the last. */
const walks = /^test\/walks\//;

/** Need a peer, a process or more than a moment. */
const slow = /^test\/(system|peers|fuzz|campaign|alone|walks)\//;

/** Of these npm test runs a fixed share of the cases (test/kit/share.ts), and the rest is run with the walks. */
export const shared: readonly string[] = [
  "test/system/bgp-golden.test.ts",
  "test/system/cni-golden.test.ts",
  "test/system/ipam-golden.test.ts",
  "test/system/kubernetes-golden.test.ts",
  "test/system/lab-breakages.test.ts",
  "test/system/node-bgp-modes.test.ts",
  "test/system/policy-golden.test.ts",
  "test/system/startup-golden.test.ts",
];

export function isWanted(file: string, part: Part): boolean {
  if (part === "quick") return !slow.test(file);
  if (part === "usual") return !walks.test(file);
  return part === "all" || walks.test(file) || shared.includes(file);
}

/** Use the ports that a user's server would have: one by one, beside others that take the ports they are given. */
export function isAlone(file: string): boolean {
  return file.startsWith("test/alone/") || file === "test/walks/operator-walk.test.ts";
}
