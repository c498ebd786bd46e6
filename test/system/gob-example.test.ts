// examples/gob-to-json.ts, run as a reader would run it: what it wrote it reads, and what is no gob is said so.
import { equal, match } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const folder = mkdtempSync(join(tmpdir(), "cattail-gob-example-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function example(...parameters: string[]) {
  const given = ["--conditions=cattail-source", "examples/gob-to-json.ts", ...parameters];
  return spawnSync(process.execPath, given, { encoding: "utf8" });
}

test("what the example makes it prints as JSON lines", () => {
  const file = join(folder, "visits.gob");
  equal(example("--make", file).status, 0);
  const { stdout, status } = example(file);
  equal(status, 0);
  equal(
    stdout,
    '{"path":"/","at":"2023-11-14T22:13:20.000Z","status":200,"header":{"Accept":"*/*"}}\n' +
      '{"path":"/no","at":"2023-11-14T22:13:21.000Z","status":404,"header":{}}\n',
  );
});

test("a file that is no gob is an error with its place and its code", () => {
  const file = join(folder, "text.gob");
  writeFileSync(file, "# not gob\n");
  const { stderr, status } = example(file);
  equal(status, 1);
  match(stderr, /text\.gob: .* at byte \d+ \(GOB_[A-Z_]+\)/);
});

for (const parameters of [[], ["--make"]]) {
  test(`a file that is not there is an error of one line: ${parameters.join(" ") || "read"}`, () => {
    const { stderr, status } = example(...parameters, join(folder, "nowhere", "visits.gob"));
    equal(status, 1);
    match(stderr, /^.*visits\.gob: ENOENT.*\n$/);
  });
}
