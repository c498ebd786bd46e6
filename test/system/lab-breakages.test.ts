// The whole cluster in a lab: it answers, and whatever is broken in it, the doctor names that and nothing else. A lab for each mode; of the
// breakages npm test makes some, and the rest with the walks.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isRecord } from "../../src/base/lib/index.ts";
import { breakages } from "../../src/programs/lab/breakages/index.ts";
import type { LabMode } from "../../src/programs/lab/state.ts";
import { cattail } from "../kit/cattail-process.ts";
import { eventually } from "../kit/eventually.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { missingProgram } from "../kit/programs.ts";
import { shareOf } from "../kit/share.ts";

const skip = noNamespaces || missingProgram("nft") || missingProgram("unshare") || missingProgram("setpriv");

const prefix = "cattail-lab-test-";

/** Labs of tests that were killed: a lab outlives who started it, which is its purpose. */
async function sweep(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(prefix))) {
    const pid = name.slice(prefix.length).split("-")[0];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    const folder = join(tmpdir(), name);
    await cattail(["lab", "down", "--folder", join(folder, "lab")]);
    rmSync(folder, { recursive: true, force: true });
  }
}

class LabUnderTest {
  readonly folder = join(mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`)), "lab");

  async run(...words: string[]) {
    const asked = words.splice(0, words[0] === "pod" ? 2 : 1);
    return await cattail(["lab", ...asked, "--folder", this.folder, ...words]);
  }

  async good(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...words);
    equal(code, 0, `lab ${words.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  }

  async codes(): Promise<string[]> {
    const { stdout, stderr } = await this.run("doctor", "-o", "json");
    const read: unknown = JSON.parse(stdout || JSON.stringify({ said: stderr }));
    if (!isRecord(read) || !Array.isArray(read.findings)) throw new Error(`no findings: ${stdout}${stderr}`);
    return [...new Set(read.findings.map((finding: unknown) => (isRecord(finding) ? String(finding.code) : "")))];
  }

  async down(): Promise<void> {
    await this.run("down");
    rmSync(join(this.folder, ".."), { recursive: true, force: true });
  }
}

async function labOf(t: TestContext, mode: LabMode): Promise<LabUnderTest> {
  await sweep();
  const lab = new LabUnderTest();
  t.after(() => lab.down());
  match(
    await lab.good("up", "--mode", mode, "--dashboard-port", "0"),
    /All pings are answered: same node 2\/2, across nodes 10\/10/,
  );
  return lab;
}

/** What is broken spreads: an agent is told, a session runs out. Then it is named, and nothing beside it. */
async function isNamed(lab: LabUnderTest, name: string, code: string): Promise<void> {
  let last: string[] = [];
  await eventually(
    async () => {
      last = await lab.codes();
      return last.join() === code;
    },
    () => `${name} is named ${code}; last found: ${last.join(", ")}`,
  );
}

const part = process.env.CATTAIL_TEST_PART;

const chosen = (mode: LabMode) => {
  const all = breakages.filter(({ modes }) => (modes === undefined ? mode === "direct" : modes[0] === mode));
  return mode === "direct" ? shareOf(all, part, 4) : all;
};

for (const mode of part === "usual" ? (["direct"] as const) : (["direct", "vxlan", "bgp"] as const)) {
  const noBird = mode === "bgp" ? missingProgram("bird") : false;
  test(`a lab of the mode ${mode}: healthy, broken, named, mended`, {
    skip: skip || noBird,
    timeout: 1_800_000,
  }, async (t) => {
    const lab = await labOf(t, mode);
    await eventually(async () => (await lab.codes()).length === 0, "a healthy lab has no finding");
    for (const { name, code } of chosen(mode)) {
      await t.test(`${name} is ${code}, and nothing else`, async () => {
        await lab.good("break", name);
        try {
          await isNamed(lab, name, code);
        } finally {
          await lab.good("mend", name); // whatever was found: the next one needs a healthy lab
        }
        await eventually(async () => (await lab.run("ping")).code === 0, `${name}: all pings are answered again`);
      });
    }
    await eventually(async () => (await lab.codes()).length === 0, "all is mended, and nothing is found");
  });
}

test("the commands of a lab: pods, exec, status, and down twice", { skip, timeout: 600_000 }, async (t) => {
  const lab = await labOf(t, "direct");
  equal((await lab.run("up")).code, 1, "a second lab in the same folder is refused");
  const address = (await lab.good("pod", "add", "web", "--node", "cka001")).trim();
  match(address, /^10\.244\./);
  match(await lab.good("exec", "pingtest-3", "ping", "-c", "1", "-W", "5", address), /1 received/);
  match(await lab.good("exec", "cka002", "uname", "-n"), /^cka002$/m);
  match(await lab.good("doctor", "web", "pingtest-3"), /Nothing that was looked at breaks this path/);
  match(await lab.good("status"), /nothing is broken/);
  await lab.good("pod", "rm", "web");
  equal((await lab.run("break", "no-such-thing")).code, 1);
  const state: unknown = JSON.parse(await lab.good("status", "-o", "json"));
  ok(isRecord(state) && Array.isArray(state.nodes) && state.nodes.length === 3);
  deepEqual((await lab.good("down")).includes("is gone"), true);
  ok(!existsSync(lab.folder));
  match(await lab.good("down"), /there is no lab/);
});
