// The tables of docs/reliability.md: what the campaigns did and found, made from the same results as the figures. A campaign that found something wrong
// says what, with its seed; one that measured nothing says so.
import type { Recorded } from "../../test/kit/record.ts";
import { type Records, withoutEmptyColumns } from "./beside.ts";
import type { Sitting } from "./sitting.ts";
import { shown } from "./svg.ts";
import { type Block, circumstancesOf, number, table, withStep, words } from "./tables.ts";

export const reliabilityBlocks: { readonly [name: string]: Block } = {
  campaigns: campaignTable,
  faults: withStep("faults", faultTable),
  fuzz: withStep("fuzz", fuzzTable),
  "fuzz-node": withStep("fuzz-node", nodeFuzzTable),
  edits: withStep("edits", editsTable),
  "folder-kills": withStep("folder-kills", killsTable),
  addresses: withStep("addresses", addressesTable),
  pods: withStep("pods", podsTable),
  policies: withStep("policies", policiesTable),
  "node-routes": withStep("node-routes", changesTable),
  "node-bgp": withStep("node-bgp", changesTable),
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
    if (step === undefined) {
      rows.push([`\`${name}\``, "", `not measured in this sitting: \`npm run figures -- --only ${name}\``, ""]);
      continue;
    }
    notes.add(circumstancesOf({ ...step, command: "npm run campaign:NAME", outcome: "passed", load: 0 }));
    if (step.records.length === 0) rows.push([`\`${name}\``, "", `**${step.outcome}**; it measured nothing`, ""]);
    for (const record of step.records) {
      const failed = step.outcome === "passed" ? "" : `**${step.outcome}**; `;
      const [what, outcome] = describe(record);
      rows.push([`\`${name}\``, what, `${failed}${outcome}`, seedOf(record)]);
    }
  }
  return `${table(["campaign", "what is done", "outcome", "seed"], rows)}\n\n${[...notes].join("\n\n")}`.trimEnd();
}

function faultTable(records: Records): string {
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

function fuzzTable([record]: Records): string {
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

const bent: { readonly [kind: string]: string } = {
  netlink: "answers of the kernel: links, addresses, routes, rules, neighbours",
  conntrack: "tracked connections",
  "packet-log": "logged packets, with their IP headers",
  "rule-changes": "notices of changed packet rules; what makes no sense counts as a change",
  nft: "`nft -j list`",
  bird: "answers of BIRD's control socket",
  cni: "configuration, variables and arguments of a runtime",
  calls: "requests and answers on the agent's socket",
  ipam: "stored blocks, affinities, handles and settings",
  typha: "key/values of the felix and bgp data sets; a value that makes no sense counts as missing",
  report: "what a node says of itself to the dashboard; no control character may come through",
  regexp: "regular expressions of Go's, in settings; what Go takes has to be one of JavaScript's, too",
  "nft-text": "the packet rules of such key/values",
  "bird-text": "BIRD's configuration of such key/values, for both generations",
};

/** `fuzz:node` has a group of figures for each kind, `fuzz:netlink` is one kind alone. */
function nodeFuzzTable(records: Records): string {
  const rows = records.flatMap((record) => {
    const isOne = typeof record.figures.cases === "number";
    const kinds = isOne ? [undefined] : Object.keys(record.figures);
    return kinds.map((kind) => {
      const of = (name: string) => shown(kind === undefined ? number(record, name) : number(record, kind, name));
      const name = kind ?? `${record.of} (\`npm run fuzz:${record.of}\`)`;
      return [name, bent[kind ?? record.of] ?? "", ...["cases", "read", "refused"].map(of), seedOf(record)];
    });
  });
  return table(["kind", "what is bent", "cases", "read", "refused", "first seed"], rows);
}

function editsTable(records: Records): string {
  const names: { readonly [of: string]: string } = {
    memory: "memory (one process, 16 writers)",
    directory: "a folder",
    kubernetes: "Kubernetes",
  };
  const rows = records.map((record) => [
    names[record.of] ?? record.of,
    ...counts(record, ["edits", "attempts", "uncertain"]),
    wrongOf(record, "none"),
    ...counts(record, ["perSecond"]),
    seedOf(record),
  ]);
  const header = [
    "datastore",
    "edits",
    "attempts",
    "unknown outcome on the way",
    "lost, or done twice",
    "a second",
    "seed",
  ];
  return withoutEmptyColumns(header, rows);
}

function killsTable(records: Records): string {
  const says: { readonly [of: string]: string } = {
    "folder-kills": "four writers at once",
    "folder-kills: failing disk": "each step fails once with EIO or ENOSPC",
    "folder-kills: full disk": "full disk (tmpfs of 512 KiB, filled)",
  };
  const rows = records.map((record) => [
    says[record.of] ?? record.of,
    ...counts(record, ["kills", "atSteps", "writes", "failed", "reads"]),
    count(record, "longestLockMs", "ms"),
    wrongOf(record, "0"),
  ]);
  const header = [
    "",
    "kills",
    "of them at a step of a write",
    "writes answered",
    "writes refused",
    "reads beside them",
    "lock free after at most",
    "failed checks",
  ];
  return withoutEmptyColumns(header, rows);
}

function addressesTable(records: Records): string {
  const rows = records.map((record) => [...addressesPart(record), seedOf(record)]);
  const header = ["part", "how much", "mended", "given twice, rules broken, or left after mending", "seed"];
  return withoutEmptyColumns(header, rows);
}

function addressesPart(record: Recorded): [part: string, howMuch: string, mended: string, wrong: string] {
  const { of } = record;
  const said = (name: string, unit: string) => {
    const text = count(record, name, unit);
    return text === "" ? [] : [text];
  };
  const mended = ["mended", "mendedBeside", "mendedAtEnd"].map((name) => number(record, name)).filter(Number.isFinite);
  const sum = mended.length === 0 ? "" : shown(mended.reduce((all, each) => all + each, 0));
  if (of === "interleavings") {
    const amounts = [
      ...[...said("schedules", "schedules"), ...said("steps", "calls"), ...said("checks", "writes checked")],
      ...said("conflicts", "lost races"),
      ...[...said("faults", "failed or late writes"), ...said("kills", "killed workers")],
    ];
    return [of, amounts.join(", "), sum, wrongOf(record, "0")];
  }
  if (of.startsWith("interop")) {
    const part = of.replace(/^interop on (\S+), /, "our plugin beside the original's on $1, ");
    const amounts = [
      ...[...said("byOriginal", "calls of the original's"), ...said("byOurs", "of ours"), ...said("killed", "killed")],
    ];
    return [part, amounts.join(", "), sum, wrongOf(record, "0")];
  }
  const amounts = [
    ...[...said("assigned", "assigned"), ...said("released", "released"), ...said("requests", "requests")],
    ...[...said("calls", "calls"), ...said("conflicts", "lost races")],
    ...[...said("faults", "faults"), ...said("kills", "killed workers")],
  ];
  return [`assignments on ${of === "directory" ? "a folder" : of}`, amounts.join(", "), sum, wrongOf(record, "0")];
}

function podsTable(records: Records): string {
  const columns = [
    ...["sequences", "withAgent", "calls", "added", "failed", "deleted", "pluginsKilled", "agentsKilled", "apiFaults"],
  ];
  const rows = records.map((record) => [seedOf(record), ...counts(record, columns), wrongOf(record, "0")]);
  const header = [
    ...["seed", "sequences", "of them with an agent", "calls", "ADDs done", "ADDs failed", "DELs done"],
    ...["killed plugins", "killed agents", "API faults", "left behind"],
  ];
  return table(header, rows);
}

/** Random clusters are counted on from batch to batch, so of each seed the last one counts, and every one that found something. */
function policiesTable(records: Records): string {
  const isLast = (record: Recorded) =>
    words(record, "wrong") !== "" ||
    record === records.findLast(({ of, seed }) => of === record.of && seed === record.seed);
  const rows = records.filter(isLast).map((record) => {
    const amounts = [
      ...["clusters", "histories", "flows", "probes", "changes", "kills", "stops"].flatMap((name) => {
        const text = count(record, name, name);
        return text === "" ? [] : [text];
      }),
    ];
    const found = ["late", "lost", "wrong"].map((name) => number(record, name));
    const outcome = found.every(Number.isFinite)
      ? `${["late", "lost", "wrong"].map((name) => count(record, name, name)).join(", ")}`
      : wrongOf(record, "none differs");
    return [record.of, amounts.join(", "), outcome, seedOf(record)];
  });
  return table(["", "how much", "outcome", "seed"], rows);
}

function changesTable(records: Records): string {
  const rows = records.map((record) => [
    seedOf(record),
    ...counts(record, ["changes"]),
    wrongOf(record, "0"),
    ["p50Ms", "p99Ms", "worstMs"].map((name) => shown(number(record, name))).join(" / "),
  ]);
  const header = ["seed", "changes", "nodes that differed from the model at the end of a change"];
  return table([...header, "ms until all five were right, p50 / p99 / worst"], rows);
}

/** What a campaign says was wrong; one that ends well says nothing of it. */
function wrongOf(record: Recorded, right: string): string {
  const wrong = words(record, "wrong");
  return wrong === "" ? right : `**${wrong.replaceAll("|", "\\|")}**`;
}

function counts(record: Recorded, names: readonly string[]): string[] {
  return names.map((name) => count(record, name, ""));
}

function count(record: Recorded, name: string, unit: string): string {
  const value = number(record, name);
  return Number.isFinite(value) ? `${shown(value)}${unit === "" ? "" : ` ${unit}`}` : "";
}

function seedOf({ seed }: Recorded): string {
  return seed === undefined ? "" : `${seed}`;
}
