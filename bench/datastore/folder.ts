// What does the folder datastore cost?
//   npm run bench:folder -- [--objects 10000] [--writes 1000] [--folder /where]
// Writes a second and CPU for each, by one process and by four at once; opening and listing many objects; the time from a write in one process to
// the watch event in another. The folder's disk decides about writes a second, since each waits for two fsyncs: --folder says which. Goals: less
// than 2 ms CPU for a write, and a list of 10,000 objects from a fresh process within 10 s.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { openDirectoryDatastore } from "../../src/calico/datastore/directory/directory-datastore.ts";
import { record } from "../../test/kit/record.ts";
import { median } from "../median.ts";

const { values } = parseArgs({
  options: {
    objects: { type: "string", default: "10000" },
    writes: { type: "string", default: "1000" },
    folder: { type: "string", default: tmpdir() },
  },
});
const run = promisify(execFile);
const program = new URL("folder-process.ts", import.meta.url).pathname;
const objects = Number(values.objects);
const writes = Number(values.writes);
const watched = 100;

for (const writers of [1, 4]) {
  await inFolder(async (folder) => {
    const results = await Promise.all(
      Array.from({ length: writers }, (_, i) =>
        processOf<{ ms: number; cpuMs: number }>([
          "--do",
          "write",
          "--folder",
          folder,
          "--name",
          `w${i}`,
          "--count",
          String(writes),
        ]),
      ),
    );
    const ms = Math.max(...results.map((result) => result.ms));
    const cpuMs = results.reduce((sum, result) => sum + result.cpuMs, 0);
    say(`${writers === 1 ? "one process" : `${writers} processes`}`, {
      writesPerSecond: Math.round((writers * writes * 1000) / ms),
      cpuMsPerWrite: cpuMs / (writers * writes),
    });
  });
}

await inFolder(async (folder) => {
  mkdirSync(join(folder, "tiers"));
  for (let i = 0; i < objects; i++) {
    const text = `apiVersion: crd.projectcalico.org/v1\nkind: Tier\nmetadata:\n  name: t${i}\n  labels:\n    bench: folder\nspec:\n  order: ${i}\n  defaultAction: Pass\n`;
    writeFileSync(join(folder, `tiers/t${i}.yaml`), text);
  }
  for (const time of ["first time", "again"]) {
    const { openMs, listMs, items, cpuMs, rssMb } = await processOf<{ [name: string]: number }>([
      "--do",
      "list",
      "--folder",
      folder,
    ]);
    if (items !== objects) throw new Error(`${items} objects were listed`);
    say(`${objects} objects, ${time}`, {
      openMs: openMs ?? 0,
      listMs: listMs ?? 0,
      cpuMs: cpuMs ?? 0,
      rssMb: rssMb ?? 0,
    });
  }
});

await inFolder(async (folder) => {
  const child = spawn(process.execPath, [program, "--do", "watch", "--folder", folder, "--count", String(watched)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  await using datastore = await openDirectoryDatastore({ path: folder });
  const written: number[] = [];
  let stored = await datastore.create("Tier", { metadata: { name: "told" }, spec: { order: 0 } });
  written.push(performance.timeOrigin + performance.now());
  while (written.length < watched) {
    await sleep(20);
    stored = await datastore.update("Tier", {
      ...stored,
      value: { metadata: { name: "told" }, spec: { order: written.length } },
    });
    written.push(performance.timeOrigin + performance.now());
  }
  const seen = JSON.parse(String((await lines.next()).value)) as { [order: string]: number };
  const delays = Object.entries(seen).map(([order, at]) => at - (written[Number(order)] ?? at));
  say("a write's answer to the watch event in another process", {
    medianMs: median(delays),
    p99Ms: delays.toSorted((a, b) => a - b)[Math.floor(delays.length * 0.99)] ?? 0,
  });
});

async function processOf<T>(args: string[]): Promise<T> {
  const { stdout } = await run(process.execPath, [program, ...args]);
  return JSON.parse(stdout) as T; // folder-process.ts prints it
}

async function inFolder(measure: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(values.folder, "cattail-bench-"));
  try {
    await measure(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function say(of: string, figures: { [name: string]: number }): void {
  const rounded = Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, Math.round(value * 100) / 100]),
  );
  console.log(`${of}: ${JSON.stringify(rounded)}`);
  record({ of: `folder: ${of}`, figures: rounded });
}
