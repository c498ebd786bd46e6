// The whole cluster in a lab: it answers, and whatever is broken in it, the doctor names that and nothing else, in every kind of lab in which it can be
// broken. npm test makes some of the breakages, in one lab; the rest is made with the walks.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { isRecord } from "../../src/base/lib/index.ts";
import { runProgram } from "../../src/base/linux/index.ts";
import { breakages, type LabKind, wantsOf } from "../../src/programs/lab/breakages/index.ts";
import { Cattail } from "../kit/cattail-process.ts";
import { eventually } from "../kit/eventually.ts";
import { LabUnderTest, noLab } from "../kit/lab-under-test.ts";
import { missingProgram } from "../kit/programs.ts";
import { shareOf } from "../kit/share.ts";

const part = process.env.CATTAIL_TEST_PART;
const only = process.env.CATTAIL_LAB_BREAKAGE;

const usual: LabKind = { mode: "direct", isDualStack: false, datastore: "directory" };
const all: readonly LabKind[] = [
  usual,
  ...(["direct", "vxlan", "bgp"] as const).map((mode) => ({ ...usual, mode, isDualStack: true })),
];

function chosen(kind: LabKind) {
  const possible = breakages.filter((each) => wantsOf(each, kind) === undefined);
  const asked = possible.filter(({ name }) => only === undefined || new RegExp(only).test(name));
  return kind === usual ? shareOf(asked, part, 6) : asked;
}

describe("labs, two at a time: most of the time a lab waits", { concurrency: 2 }, () => {
  for (const kind of part === "usual" ? [usual] : all) brokenAndMended(kind);
});

function brokenAndMended(kind: LabKind): void {
  const { mode, isDualStack } = kind;
  const noBird = mode === "bgp" ? missingProgram("bird") : false;
  const name = `a lab of the mode ${mode}${isDualStack ? " with IPv6" : ""}`;
  test(`${name}: healthy, broken, named, mended`, { skip: noLab || noBird, timeout: 3_600_000 }, async (t) => {
    const lab = await LabUnderTest.of(t);
    const flags = ["--mode", mode, "--dashboard-port", "0", ...(isDualStack ? ["--ipv6"] : [])];
    const said = await lab.good("up", ...flags);
    const whole = said.match(/All pings are answered: same node 2\/2, across nodes 10\/10/g);
    equal(whole?.length, isDualStack ? 2 : 1, said);
    await lab.isHealthy("a healthy lab");
    for (const each of chosen(kind))
      await t.test(`${each.name} is ${each.code}, and nothing else`, () => lab.isNamed(each));
    await lab.isHealthy("all is mended");
  });
}

test("every breakage can be made in one of these labs, or in one of lab-datastores", () => {
  const kubernetes: LabKind = { ...usual, datastore: "kubernetes" };
  const nowhere = breakages.filter((each) => [...all, kubernetes].every((kind) => wantsOf(each, kind) !== undefined));
  deepEqual(nowhere, []);
});

test("a lab up that is killed leaves nothing that lab down does not remove", {
  skip: noLab,
  timeout: 300_000,
}, async (t) => {
  const lab = await LabUnderTest.of(t);
  const up = new Cattail(["lab", "up", "--folder", lab.folder, "--dashboard-port", "0"], {
    env: { NODE_OPTIONS: stopsItselfAfter("nodes on a switch") }, // on a busy machine it would be ready before it is asked
  });
  await up.says(/nodes on a switch/);
  const early = await lab.run("status");
  equal(early.code, 1);
  match(early.stderr, /is not ready: it is still being built[^\n]*\nWait until cattail lab up/);
  up.process.kill("SIGKILL");
  await up.ended;
  match(await lab.good("down"), /is gone/);
  await eventually(() => processesOf(lab.folder).length === 0, "no process has the folder in its words any more");
  ok(!existsSync(lab.folder));
});

test("without root, where user namespaces are forbidden, lab up says so and leaves nothing", {
  skip: noLab,
  timeout: 120_000,
}, async (t) => {
  const lab = await LabUnderTest.of(t);
  const forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all --inh-caps=-all "$@"';
  const user = ["--user", "--map-user=1000", "--map-group=1000", "--keep-caps", "sh", "-c", forbid, "sh"];
  const { code, stderr } = await runProgram(
    "unshare",
    [...user, process.execPath, "bin/cattail", "lab", "up", "--folder", lab.folder],
    { alsoGood: [1], env: { PATH: process.env.PATH ?? "" } },
  );
  equal(code, 1);
  match(stderr, /unshare failed[\s\S]*sysctl user.max_user_namespaces.*LAB_NO_NAMESPACES/);
  ok(!existsSync(lab.folder));
});

/** Has a program stand still with the words that it has just said. */
function stopsItselfAfter(words: string): string {
  const hook = `const write = process.stdout.write.bind(process.stdout);
    process.stdout.write = (text, ...rest) => {
      const isWritten = write(text, ...rest);
      if (String(text).includes(${JSON.stringify(words)})) process.kill(process.pid, "SIGSTOP");
      return isWritten;
    };`;
  return `--import data:text/javascript,${encodeURIComponent(hook)}`;
}

/** Processes whose words name the folder. */
function processesOf(folder: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder);
    } catch {
      return false; // it has ended meanwhile
    }
  });
}

test("the commands of a lab: pods, exec, status, and down twice", {
  skip: noLab || missingProgram("ping"),
  timeout: 600_000,
}, async (t) => {
  const lab = await LabUnderTest.of(t);
  match(await lab.good("up", "--dashboard-port", "0"), /All pings are answered: same node 2\/2, across nodes 10\/10/);
  const second = await lab.run("up");
  equal(second.code, 1, "a second lab in the same folder is refused");
  match(second.stderr, /a lab runs in .* already/);
  const address = (await lab.good("pod", "add", "web", "--node", "cka001")).trim();
  match(address, /^10\.244\./);
  match(await lab.good("exec", "pingtest-3", "ping", "-c", "1", "-W", "5", address), /1 received/);
  match(await lab.good("exec", "cka002", "uname", "-n"), /^cka002$/m);
  match(await lab.good("doctor", "web", "pingtest-3"), /Nothing that was looked at breaks this path/);
  match(await lab.good("status"), /nothing is broken/);
  await lab.good("pod", "rm", "web");
  const wrong = await lab.run("break", "underlai");
  equal(wrong.code, 1);
  match(wrong.stderr, /did you mean underlay\?/);
  match((await lab.run("break", "underlay-ipv6")).stderr, /cattail lab up --ipv6/);
  const state: unknown = JSON.parse(await lab.good("status", "-o", "json"));
  ok(isRecord(state) && Array.isArray(state.nodes) && state.nodes.length === 3);
  deepEqual((await lab.good("down")).includes("is gone"), true);
  ok(!existsSync(lab.folder));
  match(await lab.good("down"), /there is no lab/);
  match((await lab.run("ping")).stderr, /no lab runs in .*\nStart one: cattail lab up/);
});
