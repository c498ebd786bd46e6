// A lab in a folder of its own, used through the program as a user does; and what the doctor finds in it.
import { equal } from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { isRecord } from "../../src/base/lib/index.ts";
import { cattail } from "./cattail-process.ts";
import { eventually } from "./eventually.ts";
import { noNamespaces } from "./namespace.ts";
import { missingProgram } from "./programs.ts";
import { whenGone } from "./when-gone.ts";

/** Why there can be no lab on this machine. */
export const noLab = noNamespaces || missingProgram("nft") || missingProgram("unshare") || missingProgram("setpriv");

const prefix = "cattail-lab-test-";
/** BIRD may wait four minutes for sessions after it was started again, and the doctor says so as long as it does. */
const settledMs = 300_000;

/** Labs of tests that were killed together with what watches over them: a lab outlives who started it, which is its purpose. */
async function sweep(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(prefix))) {
    const pid = name.slice(prefix.length).split("-")[0];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    const folder = join(tmpdir(), name);
    await cattail(["lab", "down", "--folder", join(folder, "lab")]);
    rmSync(folder, { recursive: true, force: true });
  }
}

export class LabUnderTest {
  readonly folder = join(mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`)), "lab");

  /** Ends with the test. */
  static async of(t: TestContext): Promise<LabUnderTest> {
    await sweep();
    const lab = new LabUnderTest();
    whenGone(
      'test ! -e "$3" || { "$1" "$2" lab down --folder "$3/lab"; rm -rf "$3"; }',
      process.execPath,
      join(process.cwd(), "bin/cattail"),
      join(lab.folder, ".."),
    );
    t.after(() => lab.down());
    return lab;
  }

  async run(...words: string[]) {
    const asked = words.splice(0, words[0] === "pod" ? 2 : 1);
    return await cattail(["lab", ...asked, "--folder", this.folder, ...words]);
  }

  async good(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...words);
    equal(code, 0, `lab ${words.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  }

  /** Of the findings, each once. */
  async codes(): Promise<string[]> {
    const { stdout, stderr } = await this.run("doctor", "-o", "json");
    const read: unknown = JSON.parse(stdout || JSON.stringify({ said: stderr }));
    if (!isRecord(read) || !Array.isArray(read.findings)) throw new Error(`no findings: ${stdout}${stderr}`);
    return [...new Set(read.findings.map((finding: unknown) => (isRecord(finding) ? String(finding.code) : "")))];
  }

  async isHealthy(when: string): Promise<void> {
    let last: string[] = [];
    await eventually(
      async () => {
        last = await this.codes();
        return last.length === 0;
      },
      () => `${when}: nothing is found; last found: ${last.join(", ")}`,
      settledMs,
    );
  }

  /** What is broken spreads: an agent is told, a session runs out. Then it is named, and nothing beside it; and mended, all is well again. */
  async isNamed({ name, code }: { readonly name: string; readonly code: string }): Promise<void> {
    let last: string[] = [];
    await this.good("break", name);
    try {
      await eventually(
        async () => {
          last = await this.codes();
          return last.join() === code;
        },
        () => `${name} is named ${code}; last found: ${last.join(", ")}`,
        settledMs,
      );
    } finally {
      await this.good("mend", name); // whatever was found: the next one needs a healthy lab
    }
    await eventually(async () => (await this.run("ping")).code === 0, `${name}: all pings are answered again`);
  }

  async down(): Promise<void> {
    await this.run("down");
    rmSync(join(this.folder, ".."), { recursive: true, force: true });
  }
}
