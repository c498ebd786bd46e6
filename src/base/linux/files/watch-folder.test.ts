// Whatever way a folder changes, the consumer is told, without waiting for the slow look; and what the kernel does not tell, the slow look finds.
import { deepEqual, equal } from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { MountedFolder } from "../../../../test/kit/mounted-folder.ts";
import { watchFolder } from "./watch-folder.ts";

const base = mkdtempSync(join(tmpdir(), "cattail-watch-"));
after(() => rmSync(base, { recursive: true, force: true }));
let made = 0;
const freshPath = (): string => {
  made += 1;
  return join(base, String(made));
};

const changes: { name: string; deep?: boolean; before?: (path: string) => void; change: (path: string) => void }[] = [
  { name: "a new file", change: (path) => writeFileSync(join(path, "a"), "1") },
  {
    name: "a file written in place",
    before: (path) => writeFileSync(join(path, "a"), "1"),
    change: (path) => writeFileSync(join(path, "a"), "2"),
  },
  {
    name: "a file renamed over another",
    before: (path) => writeFileSync(join(path, "a"), "1"),
    change: (path) => {
      writeFileSync(join(base, "beside"), "2");
      renameSync(join(base, "beside"), join(path, "a"));
    },
  },
  {
    name: "a removed file",
    before: (path) => writeFileSync(join(path, "a"), "1"),
    change: (path) => rmSync(join(path, "a")),
  },
  {
    name: "another folder in its place",
    change: (path) => {
      renameSync(path, `${path}-away`);
      mkdirSync(path);
    },
  },
  {
    name: "a mounted Secret's swap",
    before: (path) => new MountedFolder(path, 0o644).put({ a: "1" }),
    change: (path) => {
      // What the kubelet does: a new version beside, and the link renamed.
      mkdirSync(join(path, "..version-9"));
      writeFileSync(join(path, "..version-9", "a"), "2");
      symlinkSync("..version-9", join(path, "..data-new"));
      renameSync(join(path, "..data-new"), join(path, "..data"));
    },
  },
  {
    name: "a write to the file that a link leads to, in another folder",
    before: (path) => {
      mkdirSync(`${path}-elsewhere`);
      writeFileSync(join(`${path}-elsewhere`, "a"), "1");
      symlinkSync(join(`${path}-elsewhere`, "a"), join(path, "a"));
    },
    change: (path) => writeFileSync(join(`${path}-elsewhere`, "a"), "2"),
  },
  {
    name: "a file in a folder below, where asked to look there",
    deep: true,
    before: (path) => mkdirSync(join(path, "below")),
    change: (path) => writeFileSync(join(path, "below", "a"), "1"),
  },
];

for (const { name, deep = false, before, change } of changes) {
  test(`told at once: ${name}`, async () => {
    const path = freshPath();
    mkdirSync(path);
    before?.(path);
    const notices = watchFolder(path, { deep, quietMs: 1, rescanMs: 600_000 });
    deepEqual((await notices.next()).value, { because: "start", absent: [] });
    const next = notices.next();
    change(path);
    deepEqual((await next).value, { because: "notice", absent: [] });
    await notices.return();
  });
}

test("a folder that is not there yet, comes, goes and comes again", async () => {
  const path = join(freshPath(), "a", "b");
  const notices = watchFolder(path, { quietMs: 1, rescanMs: 600_000 });
  const isAbsent = async () => (await notices.next()).value?.absent.includes(path);
  equal(await isAbsent(), true);
  const until = async (wanted: boolean) => {
    while ((await isAbsent()) !== wanted);
  };
  mkdirSync(path, { recursive: true });
  await until(false);
  rmSync(path, { recursive: true });
  await until(true);
  mkdirSync(path);
  await until(false);
  writeFileSync(join(path, "file"), "");
  equal(await isAbsent(), false);
  await notices.return();
});

test("what changes while the consumer reads is in the next notice", async () => {
  const path = freshPath();
  mkdirSync(path);
  const notices = watchFolder(path, { quietMs: 1, rescanMs: 600_000 });
  await notices.next();
  writeFileSync(join(path, "a"), "1");
  equal((await notices.next()).value?.because, "notice");
  await notices.return();
});

test("many folders are watched at once", async () => {
  const paths = [freshPath(), freshPath()];
  for (const path of paths) mkdirSync(path);
  const notices = watchFolder(paths, { quietMs: 1, rescanMs: 600_000 });
  await notices.next();
  for (const path of paths) {
    const next = notices.next();
    writeFileSync(join(path, "a"), "1");
    equal((await next).value?.because, "notice");
  }
  await notices.return();
});

test("the slow look is told only when something changed", async () => {
  const path = freshPath();
  mkdirSync(path);
  const clock = new FakeClock();
  const stop = new AbortController();
  const notices = watchFolder(path, { clock, rescanMs: 1_000, signal: stop.signal });
  await notices.next();
  const next = notices.next();
  await clock.advance(5_000); // nothing happened: no notice
  stop.abort();
  deepEqual(await next, { value: undefined, done: true });
});

test("the loop ends when the signal aborts", async () => {
  const stop = new AbortController();
  const seen: string[] = [];
  for await (const { because } of watchFolder(base, { signal: stop.signal, rescanMs: 600_000 })) {
    seen.push(because);
    stop.abort();
  }
  deepEqual(seen, ["start"]);
});
