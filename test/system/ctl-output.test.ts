// ctl as a process whose output goes to a reader: many objects, a reader who has seen enough, one who is slow, a full disk.
import { equal, match, ok } from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

const count = 10_000;
const program = [process.execPath, resolve(import.meta.dirname, "../../src/programs/main/main.ts"), "ctl"];
const root = mkdtempSync(join(tmpdir(), "cattail-ctl-output-"));
const folder = join(root, "store");
const env = { PATH: process.env.PATH, HOME: root, DATASTORE_TYPE: "directory", DATASTORE_DIRECTORY: folder };
after(() => rmSync(root, { recursive: true, force: true }));

before(() => {
  mkdirSync(folder);
  const items = Array.from({ length: count }, (_, i) => ({
    metadata: { name: `set-${i}`, labels: { app: `a${i}` } },
    spec: { nets: [`10.${i >> 8}.${i & 255}.0/24`] },
  }));
  writeFileSync(
    join(folder, "sets.json"),
    JSON.stringify({ apiVersion: "projectcalico.org/v3", kind: "GlobalNetworkSetList", items }),
  );
});

function start(words: readonly string[], stdout: "pipe" | number = "pipe") {
  const [file = "", ...before] = program;
  const child = spawn(file, [...before, ...words], { env, stdio: ["ignore", stdout, "pipe"] });
  const errors: Buffer[] = [];
  child.stderr?.on("data", (chunk: Buffer) => errors.push(chunk));
  const ended = new Promise<{ rc: number | null; err: string }>((done) => {
    child.on("close", (rc) => done({ rc, err: Buffer.concat(errors).toString() }));
  });
  return { child, ended };
}

async function whole(words: readonly string[], pauseMs = 0): Promise<string> {
  const { child, ended } = start(words);
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout ?? []) {
    chunks.push(chunk);
    if (pauseMs > 0) await sleep(pauseMs);
  }
  const { rc, err } = await ended;
  equal(err, "");
  equal(rc, 0);
  return Buffer.concat(chunks).toString();
}

test("ten thousand objects: as a table, as names, as JSON that parses, as YAML that can be given back", async () => {
  const [rows, names, json, yaml] = await Promise.all([
    whole(["get", "globalnetworksets", "-o", "wide"]),
    whole(["get", "globalnetworksets", "-o", "name"]),
    whole(["get", "globalnetworksets", "-o", "json"]),
    whole(["get", "globalnetworksets", "-o", "yaml"]),
  ]);
  equal(rows.split("\n").length, count + 3);
  equal(names.split("\n").length, count + 1);
  equal((JSON.parse(json) as { items: unknown[] }).items.length, count);
  const file = join(root, "given-back.yaml");
  writeFileSync(file, yaml);
  match(await whole(["validate", "-f", file]), /^Successfully validated 10000 'GlobalNetworkSet' resource\(s\)\n$/);
});

test("a slow reader gets everything", async () => {
  const json = await whole(["get", "globalnetworksets", "-o", "json"], 2);
  equal((JSON.parse(json) as { items: unknown[] }).items.length, count);
});

for (const format of ["ps", "yaml", "json"]) {
  test(`a reader who has seen enough of -o ${format} is no error`, async () => {
    const { child, ended } = start(["get", "globalnetworksets", "-o", format]);
    child.stdout?.once("data", () => child.stdout?.destroy());
    const { rc, err } = await ended;
    equal(err, "");
    equal(rc, 0);
  });
}

test("output that cannot be written is an error", {
  skip: existsSync("/dev/full") ? false : "no /dev/full",
}, async () => {
  const { ended } = start(["get", "globalnetworksets", "-o", "yaml"], openSync("/dev/full", "w"));
  const { rc, err } = await ended;
  ok(rc === 1, `exit code ${rc}`);
  match(err, /no space left on device/i);
});

test("what is printed into a file is all there when the process ends", async () => {
  const file = join(root, "printed.json");
  const { ended } = start(["get", "globalnetworksets", "-o", "json"], openSync(file, "w"));
  equal((await ended).rc, 0);
  equal((JSON.parse(readFileSync(file, "utf8")) as { items: unknown[] }).items.length, count);
});

// A pseudo-terminal: what a person sees.
const screen = (words: readonly string[], variables: Record<string, string>) =>
  spawnSync("script", ["-qec", [...program, ...words].join(" "), "/dev/null"], {
    env: { ...env, ...variables },
    encoding: "utf8",
  });
const noScript = spawnSync("script", ["--version"]).status === 0 ? false : "there is no program script (util-linux)";

test("a terminal does not obey what users have written into objects; files and programs get it as it is", {
  skip: noScript,
}, async () => {
  const store = join(root, "hostile");
  mkdirSync(store);
  const object = { apiVersion: "projectcalico.org/v3", kind: "GlobalNetworkSet" };
  const title = "\u001b]0;owned\u0007";
  const set = { ...object, metadata: { name: "set", annotations: { a: title } }, spec: { nets: ["10.0.0.0/8"] } };
  writeFileSync(join(store, "set.json"), JSON.stringify(set));
  const words = [
    "get",
    "globalnetworksets",
    "-o",
    "'go-template={{range .}}{{range .Items}}{{index .ObjectMeta.Annotations \"a\"}}{{end}}{{end}}'",
  ];
  const shown = screen(words, { DATASTORE_DIRECTORY: store }).stdout;
  match(shown, /\\u001b\]0;owned\\u0007/);
  ok(!shown.includes(title));
  const piped = spawnSync("sh", ["-c", [...program, ...words].join(" ")], {
    env: { ...env, DATASTORE_DIRECTORY: store },
    encoding: "utf8",
  });
  ok(piped.stdout.includes(title), piped.stdout + piped.stderr);
});

test("nor what stands in a file that is refused", async () => {
  const file = join(root, "hostile.yaml");
  writeFileSync(file, 'apiVersion: projectcalico.org/v3\nkind: "\\e[31mEvil"\nmetadata: {name: x}\n');
  const { err } = await start(["apply", "-f", file]).ended;
  match(err, /unknown resource type \(\\u001b\[31mEvil\)/);
});
