// Network namespaces for tests, under names of their own, gone when the test is, also when it is killed.
import { existsSync } from "node:fs";
import { createNamespace, deleteNamespace, isKernelReachable, namespaceNames } from "../../src/base/linux/kernel.ts";
import { namespacesGoToo } from "./when-gone.ts";

let made = 0;

/** Why tests that need a namespace cannot run here; false: they can. */
export const noNamespaces: string | false =
  process.platform !== "linux"
    ? "needs Linux"
    : process.getuid?.() !== 0
      ? "needs root, to make network namespaces"
      : isKernelReachable()
        ? false
        : "needs node:ffi (Node 26.1)";

/** It goes with this process. */
export function freshNamespace(): { readonly name: string; readonly path: string } {
  if (made === 0) {
    sweep();
    process.once("exit", sweepOwn);
    namespacesGoToo(`cattail-test-${process.pid}-`);
  }
  made += 1;
  const name = `cattail-test-${process.pid}-${made}`;
  return { name, path: createNamespace(name) };
}

function sweep(): void {
  for (const name of namespaceNames()) {
    const [, pid] = /^cattail-test-(\d+)-\d+$/.exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) deleteNamespace(name);
  }
}

function sweepOwn(): void {
  for (let i = 1; i <= made; i++) deleteNamespace(`cattail-test-${process.pid}-${i}`);
}
