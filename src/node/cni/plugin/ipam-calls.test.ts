// Which IPAM plugin a configuration names, and what is said where there is none.
import { deepEqual, throws } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { systemClock } from "../../../base/lib/index.ts";
import { failure, isOurs, readAnswer } from "./ipam-calls.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-ipam-calls-"));
after(() => rmSync(folder, { recursive: true, force: true }));
for (const name of ["calico-ipam", "host-local"]) writeFileSync(join(folder, name), "", { mode: 0o755 });

function ask(ipam: unknown): boolean {
  const call = { command: "ADD", containerId: "c", netns: "", ifname: "eth0", args: "", path: `/none:${folder}` };
  const plugin = {
    variables: {},
    backing: { open: () => Promise.reject(new Error("nothing is opened")) },
    clock: systemClock,
    random: Math.random,
    version: "v0",
    warn: () => undefined,
    isOwnFile: (file: string) => file === join(folder, "calico-ipam"),
  };
  const configuration = { name: "net", ipam };
  return isOurs({ plugin, call: { ...call, configuration } }, configuration);
}

test("ours is known by its file, and others are run", () =>
  deepEqual([ask({ type: "calico-ipam" }), ask({ type: "host-local" })], [true, false]));

const refused: { ipam: unknown; says: string }[] = [
  { ipam: undefined, says: "no plugin name provided" },
  { ipam: {}, says: "no plugin name provided" },
  { ipam: { type: "" }, says: "no plugin name provided" },
  { ipam: { type: "nope" }, says: `failed to find plugin "nope" in path [/none ${folder}]` },
  { ipam: { type: "../calico-ipam" }, says: "invalid plugin name: ../calico-ipam" },
];
for (const { ipam, says } of refused)
  test(`IPAM ${JSON.stringify(ipam)}: ${says.replace(folder, "...")}`, () =>
    throws(() => ask(ipam), { message: says }));

const failures: { stdout: string; stderr?: string; says: [code: number, message: string] }[] = [
  { stdout: '{"code":42,"msg":"no more"}', says: [42, "no more"] },
  { stdout: '{"code":0,"msg":"no more"}', says: [999, "no more"] },
  { stdout: "", says: [999, "netplugin failed with no error message: exit status 3"] },
  { stdout: "", stderr: "bad\n", says: [999, 'netplugin failed: "bad\\n"'] },
  {
    stdout: "no",
    says: [
      999,
      "netplugin failed but error parsing its diagnostic message \"no\": invalid character 'o' in literal null (expecting 'u')",
    ],
  },
  { stdout: "[]", says: [999, "netplugin failed: exit status 3"] },
];
for (const { stdout, stderr = "", says } of failures)
  test(`an IPAM plugin that failed with ${JSON.stringify([stdout, stderr])}`, () => {
    const { code, message } = failure(stdout, stderr, 3);
    deepEqual([code, message], says);
  });

test("an answer that is none is refused in Go's words", () => {
  throws(() => readAnswer(""), { message: "failed to unmarshal raw result: unexpected end of JSON input" });
  throws(() => readAnswer("hello"), /invalid character 'h' looking for beginning of value/);
  throws(() => readAnswer("[]"), { code: 999 });
});
