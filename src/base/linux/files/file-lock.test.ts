// One at a time, between processes as within one; a holder that is killed holds nothing; who wants again at once comes last.
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { Worker } from "node:worker_threads";
import { FileLock } from "./file-lock.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-lock-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const module = new URL("./file-lock.ts", import.meta.url).href;

/** Runs the program in another process; `lock` is the lock on the path, `say` prints a line. */
function other(path: string, program: string): ChildProcess & { line(): Promise<string>; exited: Promise<unknown[]> } {
  const source = `
    import { FileLock } from ${JSON.stringify(module)};
    const lock = new FileLock(${JSON.stringify(path)});
    const say = (text) => process.stdout.write(text + "\\n");
    ${program}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return Object.assign(child, { exited: once(child, "exit"), line: async () => String((await lines.next()).value) });
}

test("a lock that one process holds is free when the process is killed, and not before", async () => {
  const path = join(folder, "killed");
  using lock = new FileLock(path);
  const holder = other(path, `await lock.acquire(); say("held"); setInterval(() => {}, 1000);`);
  equal(await holder.line(), "held");
  await rejects(lock.acquire({ limitMs: 30 }), {
    code: "LOCK_TIMEOUT",
    message: new RegExp(`the lock ${path} was not free within 30 ms; process ${holder.pid} has it`),
  });
  const waiting = lock.acquire();
  holder.kill("SIGKILL");
  using _held = await waiting;
  await holder.exited;
});

test("processes that count in one file lose no count", async () => {
  const path = join(folder, "counted");
  const counter = join(folder, "count");
  writeFileSync(counter, "0");
  const children = Array.from({ length: 3 }, () =>
    other(
      path,
      `import { readFileSync, writeFileSync } from "node:fs";
       import { setImmediate as turn } from "node:timers/promises";
       for (let i = 0; i < 100; i++) await lock.run(async () => {
         const n = Number(readFileSync(${JSON.stringify(counter)}, "utf8"));
         await turn();
         writeFileSync(${JSON.stringify(counter)}, String(n + 1));
       });`,
    ),
  );
  const codes = await Promise.all(children.map(async (child) => (await child.exited)[0]));
  deepEqual(codes, [0, 0, 0]);
  equal(readFileSync(counter, "utf8"), "300");
});

test("whoever waits comes before a holder that wants the lock again at once", async () => {
  const path = join(folder, "fair");
  const turnsFile = JSON.stringify(join(folder, "turns"));
  using lock = new FileLock(path);
  const greedy = other(
    path,
    `import { renameSync, writeFileSync } from "node:fs";
     let turns = 0;
     const work = () => {
       const endMs = performance.now() + 2;
       while (performance.now() < endMs);
       writeFileSync(${turnsFile} + ".new", String(++turns));
       renameSync(${turnsFile} + ".new", ${turnsFile});
       if (turns === 1) say("first turn");
     };
     for (;;) await lock.run(work);`,
  );
  equal(await greedy.line(), "first turn");
  const turnsNow = () => Number(readFileSync(join(folder, "turns"), "utf8"));
  let turnsWaited = 0;
  for (let i = 0; i < 20; i++) {
    const before = turnsNow();
    turnsWaited += await lock.run(() => turnsNow() - before);
  }
  greedy.kill("SIGKILL");
  await greedy.exited;
  // About one each. Without the gate it is a hundred each: whoever looks now and then loses to whoever is there.
  ok(turnsWaited < 200, `${turnsWaited} turns of the other while we waited 20 times`);
});

test("within a process those who ask first are first, and two locks on one file exclude each other", async () => {
  const path = join(folder, "order");
  using lock = new FileLock(path);
  using same = new FileLock(path);
  const order: number[] = [];
  const held = await lock.acquire();
  const waiting = [1, 2, 3].map((n) => lock.run(() => order.push(n)));
  await rejects(same.acquire({ limitMs: 5 }), { code: "LOCK_TIMEOUT" });
  deepEqual(order, []);
  held[Symbol.dispose]();
  held[Symbol.dispose](); // a second time lets go of nothing
  await Promise.all(waiting);
  deepEqual(order, [1, 2, 3]);
  await same.run(() => rejects(lock.acquire({ limitMs: 5 }), { code: "LOCK_TIMEOUT" }));
});

test("opening the lock a second time does not let go of it", async () => {
  const path = join(folder, "opened");
  using lock = new FileLock(path);
  using _held = await lock.acquire();
  using second = new FileLock(path);
  await rejects(second.acquire({ limitMs: 1 }), { code: "LOCK_TIMEOUT" });
  const stranger = other(path, `await lock.acquire({ limitMs: 20 }).then(() => say("got it"), (e) => say(e.code));`);
  equal(await stranger.line(), "LOCK_TIMEOUT");
});

test("a thread of the same process is kept out, and let in", async () => {
  const path = join(folder, "thread");
  using lock = new FileLock(path);
  const worker = new Worker(
    new URL(
      `data:text/javascript,${encodeURIComponent(`
        import { parentPort } from "node:worker_threads";
        import { FileLock } from ${JSON.stringify(module)};
        const held = await new FileLock(${JSON.stringify(path)}).acquire();
        parentPort.postMessage("held");
        parentPort.once("message", () => { held[Symbol.dispose](); parentPort.postMessage("free"); });
      `)}`,
    ),
  );
  await once(worker, "message");
  await rejects(lock.acquire({ limitMs: 20 }), { code: "LOCK_TIMEOUT" });
  worker.postMessage("let go");
  using _held = await lock.acquire();
  await worker.terminate();
});

test("who stops waiting leaves the line to the others", async () => {
  using lock = new FileLock(join(folder, "aborted"));
  const held = await lock.acquire();
  const stop = new AbortController();
  const given = lock.acquire({ signal: stop.signal });
  const next = lock.acquire();
  stop.abort(new Error("not any more"));
  await rejects(given, /not any more/);
  held[Symbol.dispose]();
  using _next = await next;
});

test("the file stays empty; one that was deleted is made again; one with content is refused", async () => {
  const path = join(folder, "file");
  using lock = new FileLock(path);
  await lock.run(() => undefined);
  equal(statSync(path).size, 0);
  unlinkSync(path);
  using other = new FileLock(path);
  using _held = await lock.acquire();
  await rejects(other.acquire({ limitMs: 5 }), { code: "LOCK_TIMEOUT" });
  ok(statSync(path).isFile());
  writeFileSync(join(folder, "text"), "x".repeat(200));
  await rejects(new FileLock(join(folder, "text")).acquire(), { code: "LOCK_UNUSABLE" });
  await rejects(new FileLock(join(folder, "no", "lock")).acquire(), { code: "LOCK_UNUSABLE", message: /ENOENT/ });
});
