// Which IPAM plugin a configuration names, and what is said where there is none.
import { deepEqual, throws } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { systemClock } from "../../../base/lib/index.ts";
import { isOurs } from "./ipam-calls.ts";

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
