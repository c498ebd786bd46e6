// A case as a test, with the program that it is for: ours, or the one that CATTAIL_CTL names ("calico ctl"), which is how
// this suite is tried on the original itself.
import { deepEqual } from "node:assert/strict";
import type { GoldenCase } from "./case.ts";
import { differences } from "./compare.ts";
import { aProcess, ourProcess, type Program, withinTest } from "./programs.ts";
import { runCase } from "./run-case.ts";
import type { Store } from "./store.ts";

const { CATTAIL_CTL } = process.env;

/** Some of every subject, as a user runs them: streams, exit codes and standard input of a process are part of the promise. */
const asProcesses =
  /^(config|crashes|etcd-|flags|help|init-first|input-many|input-files|ipam-show$|ipam-release|node-|no-crds|pool-seed|rights|unreachable|version)/;

function programFor({ name }: GoldenCase): Program {
  if (CATTAIL_CTL !== undefined) return aProcess(CATTAIL_CTL.split(" "));
  return asProcesses.test(name) ? ourProcess : withinTest;
}

/** For `test(...asTest(golden))`: called in the test's own file, which is what a report names. */
export function asTest(
  golden: GoldenCase,
  store: () => Store | undefined = () => undefined,
): [string, () => Promise<void>] {
  return [
    `${golden.name}: ${golden.about}`,
    async () => deepEqual(differences(golden, golden.expected, await runCase(golden, programFor(golden), store())), []),
  ];
}
