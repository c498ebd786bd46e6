// Campaign: writers to a folder are killed (SIGKILL) at random instants and at every step of a write, several at once, also on a full disk and on one
// that fails. After each kill: every object is as it was or as it was to be, the datastore opens, the lock is free, no temporary file is left, a reader
// beside it never saw a cut or missing file, and a watch knows what a list says. Whole: npm run campaign:folder-kills (at least 1,000 kills).
import { deepEqual, equal, ok } from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Datastore, openDirectoryDatastore } from "../../src/calico/datastore/index.ts";
import { isLong, say, size } from "../kit/campaign.ts";
import { eventually } from "../kit/eventually.ts";
import { seededRandom } from "../kit/random.ts";
import { isWhole, specOf } from "./folder-kills-content.ts";
import { type Fault, type Step, steps, type WriterConfig } from "./folder-kills-writer.ts";

const writers = 4;
const kills = size({ short: 28, long: 1_040 });
const signal = new AbortController().signal;

/** What may be stored of each object: the number of its last write, or of one that nobody knows the end of. 0: none. */
type Expected = Map<string, Set<number>>;

test(`${kills} kills of ${writers} writers at once`, { timeout: 3_600_000 }, async (t) => {
  const folder = makeFolder(t);
  const expected: Expected = new Map();
  await prepare(folder, expected);
  const files = Array.from({ length: writers }, (_, i) => [`tiers/w${i}-kept.yaml`, `hand${i}.yaml`]).flat();
  const reader = spawn(process.execPath, [pathOf("folder-kills-reader.ts"), folder, ...files], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await using watching = await openDirectoryDatastore({ path: folder, quietMs: 20 });
  const watched = follow(watching);
  const { below } = seededRandom(18);
  const figures = {
    kills: 0,
    atSteps: 0,
    atRandom: 0,
    writes: 0,
    failed: 0,
    longestLockMs: 0,
    longestWatchMs: 0,
    sharedDone: 0,
    sharedBegun: 0,
  };
  for (let round = 0; figures.kills < kills; round++) {
    const runs = Array.from({ length: writers }, (_, writer) => {
      const fault = round % 3 === 2 ? undefined : faultOf(round * writers + writer, below);
      return run(
        { folder, writer, seed: round * writers + writer + 1, ...(fault === undefined ? {} : { fault }), writes: 400 },
        below,
      );
    });
    for (const { output, wasKilled, fault } of await Promise.all(runs)) {
      if (wasKilled) {
        figures.kills += 1;
        figures[fault === undefined ? "atRandom" : "atSteps"] += 1;
      }
      take(output, expected, figures);
    }
    const startedMs = performance.now();
    {
      await using fresh = await openDirectoryDatastore({ path: folder });
      await fresh.patch("Tier", { namespace: "", name: "parent" }, { metadata: { labels: { round: String(round) } } });
      figures.longestLockMs = Math.max(figures.longestLockMs, performance.now() - startedMs);
      await check(fresh, expected, figures);
      const listed = await stateOf(fresh);
      const listedMs = performance.now();
      await eventually(
        () => JSON.stringify(watched()) === JSON.stringify(listed),
        "the watch knows what the list says",
      );
      figures.longestWatchMs = Math.max(figures.longestWatchMs, performance.now() - listedMs);
    }
    deepEqual(leftovers(folder), []);
  }
  reader.kill("SIGTERM");
  const seen = JSON.parse(await textOf(reader)) as { reads: number; other: number; wrong: string[] };
  deepEqual(seen.wrong, []);
  for (let i = 0; i < writers; i++)
    ok(readFileSync(join(folder, `hand${i}.yaml`), "utf8").startsWith(handHead), "comments stay");
  say("folder-kills", { ...figures, reads: seen.reads, versionsRead: seen.other });
  ok(figures.kills >= kills);
});

test("a step that fails with EIO leaves the old object or the new, and the next write works", {
  timeout: 600_000,
}, async (t) => {
  const folder = makeFolder(t);
  const expected: Expected = new Map();
  await prepare(folder, expected);
  const figures = { writes: 0, failed: 0, sharedDone: 0, sharedBegun: 0 };
  const { below } = seededRandom(5);
  const failing = isLong ? steps : (["sync file", "sync folder", "log"] as const);
  for (const [seed, step] of failing.entries()) {
    if (step === "lock" || step === "unlock") continue; // not calls to the disk
    const fault: Fault = { step, what: seed % 2 === 0 ? "EIO" : "ENOSPC", nth: 3 };
    const { output, wasKilled } = await run({ folder, writer: 0, seed: seed + 1, fault, writes: 25 }, below);
    equal(wasKilled, false, output);
    ok(output.endsWith("end\n"), output);
    take(output, expected, figures);
    await using fresh = await openDirectoryDatastore({ path: folder });
    await fresh.patch("Tier", { namespace: "", name: "parent" }, { metadata: { labels: { seed: String(seed) } } });
    await check(fresh, expected, figures);
  }
  deepEqual(leftovers(folder), []);
  say("folder-kills: failing disk", figures);
});

const withoutTmpfs = process.getuid?.() === 0 ? false : "mounting a tmpfs needs root";
test("writers that are killed on a full disk leave whole objects, and writing goes on when there is room", {
  skip: withoutTmpfs,
  timeout: 600_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-full-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=512k", "cattail-test", folder]);
  } catch (error) {
    rmSync(folder, { recursive: true });
    t.skip(`a tmpfs cannot be mounted here: ${String(error)}`);
    return;
  }
  t.after(() => {
    execFileSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true });
  });
  const expected: Expected = new Map();
  await prepare(folder, expected);
  const figures = { kills: 0, writes: 0, failed: 0, sharedDone: 0, sharedBegun: 0 };
  const { below } = seededRandom(7);
  for (let round = 0; round < size({ short: 2, long: 20 }); round++) {
    const runs = [0, 1].map((writer) =>
      run({ folder, writer, seed: 1 + round * 2 + writer, writes: 300, attempts: 2 }, below, () => fill(folder)),
    );
    for (const { output, wasKilled } of await Promise.all(runs)) {
      if (wasKilled) figures.kills += 1;
      take(output, expected, figures);
    }
    {
      await using full = await openDirectoryDatastore({ path: folder });
      await check(full, expected, figures); // it opens, although nothing can be written
    }
    rmSync(join(folder, ".filler"), { force: true });
    await using fresh = await openDirectoryDatastore({ path: folder });
    await fresh.patch("Tier", { namespace: "", name: "parent" }, { metadata: { labels: { round: String(round) } } });
    await check(fresh, expected, figures);
    deepEqual(leftovers(folder), []);
  }
  ok(figures.failed > 0, "the disk was never full");
  say("folder-kills: full disk", figures);
});

const handHead = "# by hand\n\napiVersion: v1\nkind: Secret # not ours\nmetadata: {name: s}\n---\n";

async function prepare(folder: string, expected: Expected): Promise<void> {
  for (let i = 0; i < writers; i++) {
    const tier = {
      apiVersion: "projectcalico.org/v3",
      kind: "Tier",
      metadata: { name: `w${i}-hand` },
      spec: specOf(1),
    };
    writeFileSync(join(folder, `hand${i}.yaml`), `${handHead}${JSON.stringify(tier, undefined, 1)}\n`);
    expected.set(`w${i}-hand`, new Set([1]));
  }
  await using datastore = await openDirectoryDatastore({ path: folder });
  for (let i = 0; i < writers; i++) {
    await datastore.create("Tier", { metadata: { name: `w${i}-kept` }, spec: specOf(1) });
    expected.set(`w${i}-kept`, new Set([1]));
  }
  await datastore.create("Tier", { metadata: { name: "parent" } });
  await datastore.create("Tier", { metadata: { name: "shared" }, spec: { order: 0 } });
}

/** Every step, each before, in the middle and after, at its first to fifth time. */
function faultOf(index: number, below: (limit: number) => number): Fault {
  const step = steps[index % steps.length] as Step;
  const what = (["before", "half", "after"] as const)[Math.floor(index / steps.length) % 3] ?? "after";
  return { step, what, nth: 1 + below(5) };
}

async function run(config: WriterConfig, below: (limit: number) => number, whenOpen?: () => void) {
  const child = spawn(process.execPath, [pathOf("folder-kills-writer.ts"), JSON.stringify(config)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "cattail-kills-compiled") },
  });
  let output = "";
  const isOpen = Promise.withResolvers<void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (output.startsWith("open\n")) isOpen.resolve();
  });
  const ended = once(child, "close");
  await Promise.race([isOpen.promise, ended]);
  whenOpen?.();
  // Who was to end by itself is not waited for for ever: a step may never be met.
  await Promise.race([ended, sleep(config.fault === undefined ? 20 + below(300) : 3_000)]);
  if (config.fault?.what === "EIO" || config.fault?.what === "ENOSPC") await ended;
  child.kill("SIGKILL");
  await ended;
  return { output, wasKilled: child.signalCode === "SIGKILL", fault: config.fault };
}

type Counts = { writes: number; failed: number; sharedDone: number; sharedBegun: number };

function take(output: string, expected: Expected, figures: Counts): void {
  let open: { name: string; number: number } | undefined;
  for (const line of output.split("\n").slice(0, -1)) {
    const [what, name = "", text] = line.split(" ");
    const number = Number(text);
    if (what === "begin") {
      open = { name, number };
      if (name === "shared") figures.sharedBegun += 1;
      else expected.set(name, new Set([...(expected.get(name) ?? [0]), number]));
    } else if (what === "done" && open !== undefined) {
      figures.writes += 1;
      if (name === "shared") figures.sharedDone += 1;
      else expected.set(name, new Set([number]));
    } else if (what === "failed") figures.failed += 1; // it may have happened: both stay
  }
}

async function check(datastore: Datastore, expected: Expected, figures: Counts): Promise<void> {
  for (const [name, numbers] of expected) {
    const stored = await datastore.get("Tier", { namespace: "", name });
    const spec = Object(stored?.value).spec;
    const number = stored === undefined ? 0 : spec.order;
    ok(numbers.has(number), `${name} is ${number}, not one of ${[...numbers]}`);
    if (stored !== undefined) ok(isWhole(spec), `${name}: ${JSON.stringify(spec)}`);
    expected.set(name, new Set([number]));
  }
  const count = Number(
    Object(Object((await datastore.get("Tier", { namespace: "", name: "shared" }))?.value).spec).order,
  );
  ok(
    count >= figures.sharedDone && count <= figures.sharedBegun,
    `${count} of ${figures.sharedDone} to ${figures.sharedBegun}`,
  );
}

function follow(datastore: Datastore): () => { [name: string]: unknown } {
  const known = new Map<string, unknown>();
  void (async () => {
    let from: string | undefined;
    for await (const { items, revision } of datastore.list("Tier", { signal })) {
      for (const { id, value } of items) known.set(id.name, Object(value).spec);
      from = revision;
    }
    for await (const events of datastore.watch("Tier", { from: from as never, signal })) {
      for (const event of events) {
        if (event.is === "set") known.set(event.object.id.name, Object(event.object.value).spec);
        else if (event.is === "delete") known.delete(event.id.name);
      }
    }
  })();
  return () => Object.fromEntries([...known].sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function stateOf(datastore: Datastore): Promise<{ [name: string]: unknown }> {
  const pages = await Array.fromAsync(datastore.list("Tier", { signal }));
  const items = pages.flatMap((page) => page.items.map(({ id, value }) => [id.name, Object(value).spec] as const));
  return Object.fromEntries(items.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Temporary files, the lock's own included. */
function leftovers(folder: string): string[] {
  return ["", "tiers", ".cattail"].flatMap((name) =>
    existsSync(join(folder, name)) ? readdirSync(join(folder, name)).filter((file) => /\.tmp$|\.new$/.test(file)) : [],
  );
}

function fill(folder: string): void {
  try {
    writeFileSync(join(folder, ".filler"), Buffer.alloc(1 << 20));
  } catch {
    // That it does not fit is the point.
  }
}

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "cattail-kills-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "tiers"));
  return folder;
}

async function textOf(child: ChildProcess): Promise<string> {
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  await once(child, "close");
  return text;
}

function pathOf(name: string): string {
  return new URL(name, import.meta.url).pathname;
}
