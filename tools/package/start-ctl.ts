// What the package has in the place of src/programs/ctl/process-console.ts: the same, out of one file, with the code that Node
// made of it the last time. A person waits for `ctl get`, and half of what it did was to compile what it had compiled before
// (docs/decisions/0023-lean-start.md).
import type { startCtl as StartCtl } from "../../src/programs/ctl/process-console.ts";
import { runKept } from "./run-kept.ts";

declare const CTL_DIGEST: string; // of ctl.cjs, set by tools/build.ts

/** Each of these has its own file, because each uses other functions. */
const kinds = ["get", "apply", "create", "replace", "delete", "patch", "label", "validate", "diff", "ipam", "version"];

export async function startCtl(words: readonly string[]): Promise<void> {
  const kind = kinds.find((one) => words.includes(one)) ?? "other";
  const url = new URL("./ctl.cjs", import.meta.url);
  const { exports, keep } = runKept(url, { name: `ctl-${kind}`, digest: CTL_DIGEST });
  const { startCtl: start } = exports as { startCtl: typeof StartCtl }; // built from that file
  await start(words);
  keep();
}
