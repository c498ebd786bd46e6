// Node with and without node:ffi, and how processes and threads end that wait in the event loop by way of it.
import { deepEqual, equal, match } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { isKernelReachable } from "../kernel.ts";

const skip = isKernelReachable() ? false : "needs Linux and node:ffi (Node 26.1)";

/** The program, in a process of its own. */
function ran(program: string, ...flags: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, "--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  return { status, output: `${stdout}${stderr}` };
}
const door = JSON.stringify(new URL("../kernel.ts", import.meta.url).href);

test("without node:ffi the error says which Node is needed; with it there is no warning", { skip }, () => {
  const program = `import { openNetlink } from ${door}; await openNetlink().links(); console.log("listed");`;
  const { status, output } = ran(program, "--no-experimental-ffi");
  equal(status, 1);
  match(output, /NODE_TOO_OLD/);
  match(output, /has no node:ffi.*Use Node 26\.1 or newer/);
  deepEqual(ran(program), { status: 0, output: "listed\n" });
});

const endings = [
  { name: "process.exit()", end: "process.exit(3)", status: 3 },
  { name: "an error", end: "throw new Error('x')", status: 1 },
  { name: "closing", end: "await changes[Symbol.asyncDispose]()", status: 0 },
];
for (const { name, end, status } of endings) {
  const program = `
    import { openNotifications } from ${door};
    const changes = openNotifications(["link"]);
    const next = changes[Symbol.asyncIterator]().next();
    setTimeout(async () => { ${end}; }, 20);`;
  test(`a process that waits for notifications ends by ${name}`, { skip }, () => {
    const ended = ran(program);
    equal(ended.status, status, ended.output);
  });
  test(`a worker thread that waits for notifications ends by ${name}`, { skip }, () => {
    const ended = ran(`
      import { Worker } from "node:worker_threads";
      const program = ${JSON.stringify(program)};
      const worker = new Worker(new URL("data:text/javascript," + encodeURIComponent(program)));
      worker.on("error", () => undefined);
      worker.on("exit", (code) => console.log("ended with", code));`);
    deepEqual(ended, { status: 0, output: `ended with ${status}\n` });
  });
}
