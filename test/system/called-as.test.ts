// A link of ours in the place of the original's program is started by its names and words, and serves. The single
// executable's links: test/system/binary.test.ts.
import { equal, match } from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { Cattail, cattail } from "../kit/cattail-process.ts";
import { typhaSettings } from "../kit/typha-settings.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-called-as-"));
after(() => rmSync(folder, { recursive: true, force: true }));
for (const name of ["calico-typha", "calico"]) symlinkSync(resolve("bin/cattail"), join(folder, name));
const link = (name: string) => [process.execPath, join(folder, name)];

const starts: { name: string; program: string[]; words: string[] }[] = [
  { name: "a link named calico-typha", program: link("calico-typha"), words: [] },
  { name: "calico component typha", program: link("calico"), words: ["component", "typha"] },
  {
    name: "the image with the arguments of Calico's manifest",
    program: [process.execPath, resolve("bin/cattail")],
    words: ["component", "typha"],
  },
];
for (const { name, program, words } of starts) {
  test(`${name} starts the server, which ends when it is asked to`, { timeout: 300_000 }, async () => {
    await using typha = new Cattail(words, { program, env: await typhaSettings() });
    await typha.says(/HTTP server listening/);
    typha.process.kill("SIGTERM");
    equal(await typha.ended, 0, typha.output);
  });
}

for (const { program, words } of [
  { program: link("calico-typha"), words: ["--version"] },
  { program: link("calico"), words: ["component", "typha", "version"] },
])
  test(`${words.join(" ")} is answered as the original's is`, async () => {
    const { code, stdout, stderr } = await cattail(words, { program });
    equal(code, 0, stderr);
    match(stdout, /^Version: +v\d/m);
  });

test("another component of Calico is refused by name", async () => {
  const { code, stderr } = await cattail(["component", "apiserver"], { program: link("calico") });
  equal(code, 1);
  match(stderr, /asked for apiserver[\s\S]*OTHER_COMPONENT/);
});
