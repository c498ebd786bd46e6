// The tables of docs/reliability.md: what the campaigns found, made from the same results as the figures.
import type { Recorded } from "../../test/kit/record.ts";
import type { Sitting } from "./sitting.ts";
import { shown } from "./svg.ts";
import { type Block, circumstancesOf, number, table, withStep } from "./tables.ts";

export const reliabilityBlocks: { readonly [name: string]: Block } = {
  campaigns: campaignTable,
  faults: withStep("faults", faultTable),
  fuzz: withStep("fuzz", fuzzTable),
};

const campaigns: { readonly [step: string]: (record: Recorded) => [what: string, outcome: string] } = {
  stalled: (record) => [
    `${shown(number(record, "stalled"))} TLS clients stop reading ${record.of}`,
    `peak RSS ${shown(number(record, "peakRssMb"))} MB; healthy clients' p99 ${shown(number(record, "p99Ms"))} ms, their slowest of 50 updates ${shown(number(record, "roundMs"))} ms (${shown(number(record, "beforeMs"))} ms before)`,
  ],
  "half-open": (record) => [
    `${shown(number(record, "connections"))} ${record.of} connections that never finish a handshake`,
    `a new client is in sync after ${shown(number(record, "goodMs"))} ms; all closed after ${shown(number(record, "goneMs") / 1000)} s; peak RSS ${shown(number(record, "peakRssMb"))} MB`,
  ],
  malformed: (record) => [
    `${shown(number(record, "streams"))} malformed ${record.of} streams`,
    `the server keeps serving, and its file descriptors are released; RSS ${shown(number(record, "rssMb"))} MB`,
  ],
  rotation: (record) => [
    `${shown(number(record, "rotations"))} rotations of ${record.of} under ${shown(number(record, "clients"))} clients`,
    `${shown(number(record, "reloads"))} reloads, ${shown(number(record, "failed"))} failed; no connection dropped, no client of an old CA accepted`,
  ],
  soak: (record) => [
    `${shown(number(record, "updates"))} random sets and deletions to 50 clients of five kinds, ${record.of}`,
    `${shown(number(record, "kvs"))} key/values in ${shown(number(record, "messages"))} messages; every key correct on every client, no key went back to an older value`,
  ],
};

function campaignTable({ steps }: Sitting): string {
  const rows: string[][] = [];
  const notes = new Set<string>();
  for (const [name, describe] of Object.entries(campaigns)) {
    const step = steps[name];
    if (step === undefined)
      rows.push([`\`${name}\``, "", `not measured yet: \`npm run figures -- --only ${name}\``, ""]);
    else notes.add(circumstancesOf({ ...step, command: "npm run campaign:NAME", outcome: "passed", load: 0 }));
    for (const record of step?.records ?? []) {
      const failed = step?.outcome === "passed" ? "" : `**${step?.outcome}**; `;
      const [what, outcome] = describe(record);
      rows.push([`\`${name}\``, what, `${failed}${outcome}`, record.seed === undefined ? "" : `${record.seed}`]);
    }
  }
  return `${table(["campaign", "what is done", "outcome", "seed"], rows)}\n\n${[...notes].join("\n\n")}`.trimEnd();
}

function faultTable(records: readonly Recorded[]): string {
  const sum = (name: string): number => records.reduce((total, record) => total + number(record, name), 0);
  const longest = Math.max(...records.map((record) => number(record, "longestSettleMs"))) / 1000;
  const rows = records.map((record) => [
    record.of,
    ...["faults", "writes", "divergences"].map((name) => shown(number(record, name))),
    `${shown(number(record, "longestSettleMs") / 1000)} s`,
  ]);
  rows.push(["**all**", ...["faults", "writes", "divergences"].map((name) => shown(sum(name))), `${shown(longest)} s`]);
  const header = ["datastore", "faults", "writes at the same time", "wrong states", "longest recovery"];
  return `${table(header, rows)}\n\n![How often each fault was made](images/plots/faults.svg)`;
}

function fuzzTable([record]: readonly Recorded[]): string {
  const figures = ["cases", "accepted", "refused", "limited", "ambiguous"].map((name) => shown(number(record, name)));
  const header = [
    "streams",
    "accepted by both",
    "refused by both",
    "refused by our limits (not given to Go)",
    "ambiguous",
  ];
  return table([...header, "first seed"], [[...figures, `${record?.seed ?? ""}`]]);
}
