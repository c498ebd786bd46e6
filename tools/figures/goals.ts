// The goals of docs/performance.md: what was to be reached, and how it is read from the results. Whether a goal is met is computed here and nowhere
// else, so that nothing can be claimed that was not measured. What was tried for those that are missed stands in the page.
import { figure, ourPrograms, places, type Records, theirPrograms, togetherMb } from "./beside.ts";
import { number, scenarios } from "./tables.ts";

export type Goal = {
  readonly what: string;
  /** Of `figureSteps`: in whose records the figures stand. */
  readonly step: string;
  /** The figure is at most, or at least, this; in the words of the page. */
  readonly limit: number;
  readonly is: "at most" | "at least";
  readonly says: string;
  /** Of the figures; none: they are shares of what another program needs. */
  readonly unit?: string;
  /** NaN: it was not measured. */
  readonly cases: readonly { readonly says: string; readonly value: (records: Records) => number }[];
};

type Cases = Goal["cases"];
const half = { limit: 0.5, is: "at most", says: "1/2" } as const;
const noMore = { limit: 1, is: "at most", says: "1" } as const;

/** A figure of ours divided by the other's. */
function times(ours: string, theirs: string, name: string, inner?: string) {
  return (records: Records): number => figure(records, ours, name, inner) / figure(records, theirs, name, inner);
}

/** A share of calico/typha's cost in scenarios of fan-out. */
function share(name: string, cases: readonly (readonly [scenario: string, says: string])[]): Cases {
  return cases.map(([scenario, says]) => ({
    says,
    value: (records) => {
      const servers = scenarios(records).find((one) => one.name === scenario)?.servers;
      return number(servers?.get("cattail"), name) / number(servers?.get("against"), name);
    },
  }));
}

const single = ["single-500", "single updates to 500 clients"] as const;
const batchesOf5 = ["batch-5", "batches of 5"] as const;
const batchesOf100 = ["batch-100", "batches of 100"] as const;
const manyKeys = ["large-50", "50 clients, 100,000 keys"] as const;
const reconnect = ["reconnect-100", "100 clients come back"] as const;

const fanoutGoals: readonly Goal[] = [
  {
    ...{ what: "[Typha](#fan-out): CPU of batches of 100", step: "fanout" },
    ...{ limit: 0.25, is: "at most", says: "1/4" },
    cases: share("cpuMicrosPerDelivery", [["batch-100", ""]]),
  },
  {
    ...{ what: "Typha: CPU of batches of 5, and of single updates", step: "fanout" },
    ...half,
    cases: share("cpuMicrosPerDelivery", [batchesOf5, single]),
  },
  {
    ...{ what: "Typha: p99 latency of updates", step: "fanout" },
    ...half,
    cases: share("p99Ms", [batchesOf100, batchesOf5, single]),
  },
  {
    ...{ what: "Typha: CPU of connecting", step: "fanout" },
    ...noMore,
    cases: share("cpuMicrosPerDelivery", [["storm-1000", "1,000 clients at once"], manyKeys, reconnect]),
  },
  {
    ...{ what: "Typha: CPU of a snapshot after a small change", step: "fanout" },
    ...{ limit: 0.1, is: "at most", says: "1/10" },
    cases: share("snapshotCpuMs", [["reconnect-100", ""]]),
  },
  {
    ...{ what: "Typha: memory with many keys, or a stream to many clients", step: "fanout" },
    ...{ limit: 0.6, is: "at most", says: "0.6" },
    cases: share("rssMb", [manyKeys, reconnect, single]),
  },
  {
    ...{ what: "Typha: CPU of an update to one of 1,000 clients, divided by that to one of 10", step: "flat" },
    ...noMore,
    cases: [{ says: "", value: growthWithClients }],
  },
];

function growthWithClients(records: Records): number {
  const costs = scenarios(records).map(({ servers }) => number(servers.get("cattail"), "cpuMicrosPerDelivery"));
  return (costs.at(-1) ?? Number.NaN) / (costs[0] ?? Number.NaN);
}

const singleCommands = [
  ["get nodes", "nodes"],
  ["get ippools -o wide", "pools"],
  ["apply one pool", "apply"],
  ["ipam show --show-blocks", "blocks"],
  ["ipam show --show-blocks, 1000 blocks", "1,000 blocks"],
  ["get nodes, 1000 nodes", "1,000 nodes"],
] as const;
const manyObjects = [
  ["apply 200 objects, new", "new"],
  ["apply 200 objects, unchanged", "unchanged"],
] as const;

const besideCtl = (name: string, scenes: readonly (readonly [string, string])[]): Cases =>
  scenes.map(([what, says]) => ({ says, value: times(`${what}, cattail`, `${what}, original`, name, "median") }));

const ctlGoals: readonly Goal[] = [
  {
    ...{ what: "[`cattail ctl`](#ctl): time of one command", step: "ctl" },
    ...{ limit: 1.5, is: "at most", says: "1.5" },
    cases: besideCtl("wallMs", singleCommands),
  },
  {
    ...{ what: "`cattail ctl`: CPU of one command", step: "ctl" },
    ...{ limit: 1.5, is: "at most", says: "1.5" },
    cases: besideCtl("cpuMs", singleCommands),
  },
  { what: "`cattail ctl`: memory", step: "ctl", ...noMore, cases: besideCtl("peakRssMb", singleCommands) },
  {
    ...{ what: "`cattail ctl`: time of 200 objects at once", step: "ctl" },
    ...{ limit: 0.1, is: "at most", says: "1/10" },
    cases: besideCtl("wallMs", manyObjects),
  },
];

const calls = (of: string): Cases =>
  (["add", "del"] as const).map((name) => ({
    says: name.toUpperCase(),
    value: (records) => figure(records, of, `${name}Calls`),
  }));
const agentToOriginal = (names: readonly (readonly [name: string, says: string])[]): Cases =>
  names.map(([name, says]) => ({ says, value: times("cattail, agent", "original", name) }));

const cniGoals: readonly Goal[] = [
  {
    ...{ what: "[addresses](#addresses-for-pods): API calls of ADD and DEL, with the agent", step: "ipam" },
    ...{ limit: 3, is: "at most", says: "3 calls" },
    cases: calls("cattail, resident"),
  },
  {
    ...{ what: "addresses: API calls of ADD and DEL, without it", step: "ipam" },
    ...{ limit: 8, is: "at most", says: "8 calls" },
    cases: calls("cattail, program"),
  },
  {
    ...{ what: "addresses: ADDs a second", step: "ipam" },
    ...{ limit: 5, is: "at least", says: "5 times" },
    cases: [{ says: "", value: times("cattail, resident", "original", "addsPerSecond") }],
  },
  {
    ...{ what: "[the CNI plugin](#the-cni-plugin): p50", step: "cni" },
    ...half,
    cases: agentToOriginal([
      ["addP50Ms", "ADD"],
      ["delP50Ms", "DEL"],
    ]),
  },
  {
    ...{ what: "the CNI plugin: p99, divided by the original's p50", step: "cni" },
    ...noMore,
    cases: (["add", "del"] as const).map((name) => ({
      says: name.toUpperCase(),
      value: (records) =>
        figure(records, "cattail, agent", `${name}P99Ms`) / figure(records, "original", `${name}P50Ms`),
    })),
  },
  { what: "the CNI plugin: memory", step: "cni", ...half, cases: agentToOriginal([["peakMb", ""]]) },
  {
    ...{ what: "the CNI plugin: API requests", step: "cni" },
    ...{ limit: 1 / 3, is: "at most", says: "1/3" },
    cases: agentToOriginal([
      ["addRequests", "ADD"],
      ["delRequests", "DEL"],
    ]),
  },
  {
    ...{ what: "the CNI plugin: calls a second, 16 at a time", step: "cni" },
    ...{ limit: 4, is: "at least", says: "4 times" },
    cases: agentToOriginal([
      ["addsPerSecond", "ADD"],
      ["delsPerSecond", "DEL"],
    ]),
  },
];

const oneCase = (value: (records: Records) => number): Cases => [{ says: "", value }];
const bgp = (what: string, name: string): Goal => ({
  ...{ what, step: "bird" },
  ...half,
  cases: oneCase(times("cattail", "original", name)),
});

const bgpGoals: readonly Goal[] = [
  bgp("[BGP](#bgp): a BGPPeer until BIRD has it", "changeMs"),
  bgp("BGP: start", "startMs"),
  bgp("BGP: memory", "residentMb"),
];

/** Figures of one scene of the policy bench, divided by the original's. */
const policy = (scene: string, figures: readonly (readonly [name: string, says: string])[]): Cases =>
  figures.map(([name, says]) => ({ says, value: times(`${scene}, cattail`, `${scene}, original`, name) }));
const firstTable = (what: string, says: string) =>
  [
    [`${what}: empty kernel ms`, `${says} time`],
    [`${what}: CPU s`, `${says} CPU`],
  ] as const;
const filled = [
  ["100 endpoints", "100 endpoints"],
  ["500 endpoints", "500"],
  ["1000 endpoints", "1,000"],
  ["1000 policies", "1,000 policies"],
] as const;

const onThePod = [
  ["0 policies", "0 policies"],
  ["10", "10"],
  ["200", "200"],
  ["10000 elsewhere", "10,000 that do not apply"],
] as const;

const policyGoals: readonly Goal[] = [
  {
    ...{ what: "[policy](#policy-on-a-node): first table with 500 and 1,000 endpoints", step: "policy" },
    ...half,
    cases: policy("start", [...firstTable("500 endpoints", "500,"), ...firstTable("1000 endpoints", "1,000,")]),
  },
  {
    ...{ what: "policy: first table with 100 endpoints, and with 1,000 policies", step: "policy" },
    ...half,
    cases: policy("start", [
      ...firstTable("100 endpoints", "100 endpoints,"),
      ...firstTable("1000 policies", "1,000 policies,"),
    ]),
  },
  {
    ...{ what: "policy: start where the table is there already, time", step: "policy" },
    ...half,
    cases: policy(
      "start",
      filled.map(([what, says]) => [`${what}: same table ms`, says] as const),
    ),
  },
  {
    ...{ what: "policy: written until it denies, deleted until it allows, p50", step: "policy" },
    ...noMore,
    cases: policy("write", [
      ["written to denied p50 ms", "written"],
      ["deleted to allowed p50 ms", "deleted"],
    ]),
  },
  {
    ...{ what: "policy: written until it denies, deleted until it allows, p99", step: "policy" },
    ...half,
    cases: policy("write", [
      ["p99 ms", "written"],
      ["allowed p99 ms", "deleted"],
    ]),
  },
  {
    ...{ what: "policy: 5,000 networks of a set replaced", step: "policy" },
    ...{ limit: 1, is: "at most", says: "1 s" },
    ...{ unit: "s", cases: oneCase((records) => figure(records, "set, cattail", "5000 networks replaced ms") / 1000) },
  },
  {
    ...{ what: "policy: CPU for 1,000 label changes", step: "policy" },
    ...half,
    cases: policy("labels", [["CPU s for 1000 label changes", ""]]),
  },
  {
    ...{ what: "policy: datagrams a second from pod to pod", step: "policy" },
    ...{ limit: 1, is: "at least", says: "1" },
    cases: policy(
      "throughput",
      onThePod.map(([what, says]) => [`${what}: 1000 packets/s`, says] as const),
    ),
  },
  {
    ...{ what: "policy: one TCP stream from pod to pod", step: "policy" },
    ...{ limit: 1, is: "at least", says: "1" },
    cases: policy(
      "throughput",
      onThePod.map(([what, says]) => [`${what}: Gbit/s`, says] as const),
    ),
  },
  {
    ...{ what: "policy: memory", step: "policy" },
    ...noMore,
    cases: [
      ...policy(
        "start",
        filled.map(([what, says]) => [`${what}: RSS MiB`, says] as const),
      ),
      ...policy("throughput", [["10000 elsewhere: RSS MiB", "10,000 that do not apply"]]),
    ],
  },
];

const routes = (name: string, where: readonly (typeof places)[number][] = places): Cases =>
  where.map((place) => ({
    says: where.length === 1 ? "" : place,
    value: times(`routes of a node, ${place}, cattail`, `routes of a node, ${place}, original`, name),
  }));

const nodeGoals: readonly Goal[] = [
  {
    ...{ what: "[routes](#routes-of-a-node): a new block to its route", step: "node" },
    ...half,
    cases: routes("addP50Ms"),
  },
  { what: "routes: idle CPU behind a Typha", step: "node", ...half, cases: routes("idleCpuPercent", [places[1]]) },
  { what: "routes: idle CPU straight on etcd", step: "node", ...half, cases: routes("idleCpuPercent", [places[0]]) },
  { what: "routes: time until all are there", step: "node", ...half, cases: routes("startMs") },
  { what: "routes: CPU of the start", step: "node", ...half, cases: routes("startCpuMs") },
  { what: "routes: memory of that half of the agent", step: "node", ...half, cases: routes("residentMb") },
  {
    ...{ what: "the whole agent, beside Felix, confd and node-services: memory", step: "node" },
    ...half,
    cases: oneCase((records) => togetherMb(records, ourPrograms) / togetherMb(records, theirPrograms)),
  },
  {
    ...{ what: "[start-up of a node](#start-up-of-a-node): CPU", step: "startup" },
    ...half,
    cases: startup("cpuMs"),
  },
  { what: "start-up of a node: memory", step: "startup", ...half, cases: startup("peakRssMb") },
];

function startup(name: string): Cases {
  return [
    ["start-up, everything exists", "start-up"],
    ["health --felix-ready", "probe"],
  ].map(([what, says = ""]) => ({ says, value: times(`${what}, cattail`, `${what}, original`, name) }));
}

/** The one in which a fresh process reads a folder of many objects. */
function openSeconds(records: Records): number {
  const of = records.find((record) => record.of.endsWith("objects, first time"))?.of ?? "";
  return figure(records, of, "openMs") / 1000;
}

const otherGoals: readonly Goal[] = [
  {
    ...{ what: "[netlink](#netlink): routes, beside `ip`", step: "netlink" },
    ...noMore,
    cases: ["add", "list", "delete"].map((job) => ({
      says: job,
      value: ([record]) => number(record, job, "oursMs") / number(record, job, "ipMs"),
    })),
  },
  {
    ...{ what: "[`npm start`](#start): CPU beside release 0.1", step: "start" },
    ...half,
    cases: [
      ["demo's first line", "first line"],
      ["demo", "dashboard"],
      ["first demo's first line", "very first start, first line"],
      ["first demo", "very first start, dashboard"],
    ].map(([what, says = ""]) => ({
      says,
      value: times(`${what} from sources, cattail`, `${what} from sources, before`, "cpuMs", "median"),
    })),
  },
  {
    ...{ what: "[a client](#client) that reads a snapshot: CPU beside Go", step: "client" },
    ...noMore,
    cases: [
      ["first", "just started"],
      ["later", "reconnecting"],
    ].map(([name = "", says = ""]) => ({
      says,
      value: ([record]) => number(record, name, "cpuMs") / number(record, "go", "cpuMs"),
    })),
  },
  {
    ...{ what: "[pods to endpoints](#conversion-and-datastore): CPU beside parsing them", step: "convert" },
    ...{ limit: 1.5, is: "at most", says: "1.5" },
    cases: oneCase(([record]) => number(record, "convertMs") / number(record, "plainMs")),
  },
  {
    ...{ what: "150,000 pods listed and converted: CPU beside reading and parsing", step: "datastore" },
    ...{ limit: 1.5, is: "at most", says: "1.5" },
    cases: listed("timesRawCpu"),
  },
  {
    ...{ what: "150,000 pods listed and converted: memory", step: "datastore" },
    ...{ limit: 600, is: "at most", says: "600 MB", unit: "MB" },
    cases: listed("peakRssMb"),
  },
  {
    ...{ what: "[a folder as datastore](#a-folder-as-datastore): CPU of a write, one process", step: "folder" },
    ...{ limit: 2, is: "at most", says: "2 ms", unit: "ms" },
    cases: oneCase((records) => figure(records, "folder: one process", "cpuMsPerWrite")),
  },
  {
    ...{ what: "a folder as datastore: 10,000 objects opened by a fresh process", step: "folder" },
    ...{ limit: 10, is: "at most", says: "10 s", unit: "s" },
    cases: oneCase(openSeconds),
  },
];

function listed(name: string): Cases {
  return [
    ["pages", "pages"],
    ["stream", "stream"],
  ].map(([of = "", says = ""]) => ({ says, value: (records) => figure(records, of, name) }));
}

export const goals: readonly Goal[] = [
  ...fanoutGoals,
  ...ctlGoals,
  ...cniGoals,
  ...bgpGoals,
  ...policyGoals,
  ...nodeGoals,
  ...otherGoals,
];
