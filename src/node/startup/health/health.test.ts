// The rules about BIRD, the original's and the strict ones, and how long a session has been down. The command itself is in the recorded cases.
import { equal, rejects } from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../../base/lib/index.ts";
import type { Peer } from "../../bird/asking.ts";
import { goDurationMs } from "../settings/duration.ts";
import { type BirdState, downForMs, lookAtBird, speaksIpv6, whyNotReady } from "./bird.ts";

const peer = (address: string, info: string, since = "2026-01-01"): Peer => ({
  ...{ address, info, since, family: 4, type: "node-to-node mesh", state: info === "Established" ? "up" : "start" },
});
const up = peer("10.0.0.1", "Established");
const down = peer("10.0.0.2", "Active Socket: Connection refused");
const kernel = (state: string) => ({ name: "kernel1", kind: "Kernel", state, since: "", info: "" });
const state = (given: Partial<BirdState>): BirdState => ({
  ...{ socket: "", peers: [up], kernelProtocols: [kernel("up")], isRestarting: async () => false },
  ...given,
});
const early = { ageMs: 1000, thresholdMs: 30_000 };
const late = { ageMs: 31_000, thresholdMs: 30_000 };
const strict = { ...late, strict: { graceMs: 10_000, clock: systemClock } };
const clockNow = (agoMs: number) => {
  const at = new Date(systemClock.wallMs() - agoMs);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
};

const rules: { name: string; given: Partial<BirdState>; rule: Parameters<typeof whyNotReady>[1]; why?: string }[] = [
  { name: "no peers", given: { peers: [] }, rule: early },
  { name: "one down, early", given: { peers: [up, down] }, rule: early, why: "BGP not established with 10.0.0.2" },
  { name: "one down, late", given: { peers: [up, down] }, rule: late },
  { name: "all down, late", given: { peers: [down] }, rule: late, why: "BGP not established with 10.0.0.2" },
  {
    name: "restarting, early",
    given: { isRestarting: async () => true },
    rule: early,
    why: "graceful restart in progress",
  },
  { name: "restarting, late", given: { isRestarting: async () => true }, rule: late },
  { name: "strict, one down", given: { peers: [up, down] }, rule: strict, why: "BGP not established with 10.0.0.2" },
  {
    name: "strict, one down for a moment",
    given: { peers: [up, peer("10.0.0.3", "Connect", clockNow(3000))] },
    rule: strict,
  },
  {
    name: "strict, restarting",
    given: { isRestarting: async () => true },
    rule: strict,
    why: "graceful restart in progress",
  },
  {
    name: "strict, the kernel's protocol waits",
    given: { kernelProtocols: [kernel("wait")] },
    rule: strict,
    why: "kernel routes are not written yet by kernel1",
  },
  { name: "strict, all well", given: {}, rule: strict },
];
for (const { name, given, rule, why } of rules) {
  test(`BIRD: ${name}`, async () => equal(await whyNotReady(state(given), rule), why));
}

const silent = { isRestarting: () => Promise.reject(new Error("asked for its status")) };
for (const [name, given, rule] of [
  ["late", {}, late],
  ["there are no peers", { peers: [] }, early],
  ["a peer is down", { peers: [down] }, early],
] as const) {
  test(`BIRD is not asked whether it restarts when ${name}`, async () => {
    await whyNotReady(state({ ...silent, ...given }), rule);
  });
}

const table = [
  "2002-name     proto    table    state  since       info",
  "1002-device1  Device   master   up     10:00:00",
  " Mesh_10_0_0_2 BGP      master   start  10:00:01    Established",
];
const answers: { name: string; protocols: readonly string[]; status?: readonly string[]; why: RegExp | undefined }[] = [
  { name: "a table", protocols: [...table, "0000 "], status: ["1000-BIRD 1.6", "0013 up"], why: undefined },
  { name: "nothing, because it has no protocol", protocols: ["0000 "], why: undefined },
  {
    name: "a row right below the headings, without a code of its own",
    protocols: [table[0] ?? "", " Mesh_10_0_0_2 BGP      master   start  10:00:01    Active", "0000 "],
    why: /BGP not established with 10.0.0.2/,
  },
  {
    name: "a line of another kind",
    protocols: [...table, "1008-odd", "0000 "],
    why: /unexpected output line.*1008 odd/,
  },
  {
    name: "other headings",
    protocols: [(table[0] ?? "").replace("since", "when"), "0000 "],
    why: /unknown BIRD table/,
  },
  {
    name: "a status of another kind",
    protocols: [...table, "0000 "],
    status: ["1000-BIRD 1.6", "1234-odd", "0013 up"],
    why: /unexpected output line.*1234 odd/,
  },
];
for (const { name, protocols, status = [], why } of answers) {
  test(`BIRD answers with ${name}`, () =>
    withBird({ protocols, status }, async (socket) => {
      const signal = AbortSignal.timeout(5_000);
      const look = async () => {
        const not = await whyNotReady(await lookAtBird({ family: 4, sockets: [socket], signal }), early);
        if (not !== undefined) throw new Error(not);
      };
      if (why === undefined) await look();
      else await rejects(look, why);
    }));
}

const table2 = [
  "2002-Name       Proto      Table      State  Since         Info",
  "1002-device1    Device     ---        up     10:00:00",
  " Mesh_10_0_0_2 BGP        ---        up     10:00:01      Established",
  "0000 ",
];
for (const { name, protocols, own, is } of [
  { name: "BIRD 2 alone is of both families", protocols: table2, own: false, is: true },
  { name: "BIRD 1 alone is of IPv4", protocols: [...table, "0000 "], own: false, is: false },
  { name: "BIRD 1 beside one of IPv6", protocols: [...table, "0000 "], own: true, is: true },
])
  test(`IPv6: ${name}`, () =>
    withBird({ protocols }, async (socket) => {
      const places = own ? { sockets: [socket] } : { sockets: [`${socket}6`], socketsOfBoth: [socket] };
      equal(await speaksIpv6({ ...places, signal: AbortSignal.timeout(5_000) }), is);
    }));

async function withBird(
  { protocols, status = [] }: { protocols: readonly string[]; status?: readonly string[] },
  use: (socket: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "cattail-health-"));
  const socket = join(folder, "bird.ctl");
  const server = createServer((client) => {
    client.write("0001 BIRD 1.6.8 ready.\n");
    client.on("data", (asked) =>
      client.write(`${(`${asked}`.includes("protocols") ? protocols : status).join("\n")}\n`),
    );
  });
  try {
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    await use(socket);
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
}

test("since when: a time of today or yesterday, else long ago", () => {
  const noon = new Date(2026, 10, 17, 12, 0, 0).getTime();
  equal(downForMs("11:59:30", noon), 30_000);
  equal(downForMs("11:59:30.500", noon), 29_500);
  equal(downForMs("12:00:30", noon), 24 * 3_600_000 - 30_000);
  equal(downForMs("2026-11-15", noon), Number.POSITIVE_INFINITY);
});

const durations: [string, number | undefined][] = [
  ["30s", 30_000],
  ["1m30.5s", 90_500],
  ["500ms", 500],
  ["0", 0],
  ["-1s", -1000],
  ["1h", 3_600_000],
  ["10", undefined],
  ["", undefined],
  ["1s x", undefined],
];
for (const [text, ms] of durations) test(`duration ${JSON.stringify(text)}`, () => equal(goDurationMs(text), ms));
