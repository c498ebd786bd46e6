// The tables of docs/performance.md about programs that are started, ctl, and what runs on a node: each is made from the records of one step, with
// the original beside Cattail where it was measured.
import {
  type FigureRow,
  figure,
  figureTable,
  ourPrograms,
  places,
  type Records,
  ratio,
  theirPrograms,
  togetherMb,
  withoutEmptyColumns,
  withUnit,
} from "./beside.ts";
import { shown } from "./svg.ts";
import { type Block, withStep } from "./tables.ts";

export const nodeBlocks: { readonly [name: string]: Block } = {
  start: withStep("start", startTables),
  folder: withStep("folder", folderTable),
  ctl: withStep("ctl", ctlTable),
  ipam: withStep("ipam", ipamTable),
  cni: withStep("cni", cniTable),
  bird: withStep("bird", birdTable),
  policy: withStep("policy", policyTable),
  startup: withStep("startup", startupTable),
  "node-routes": withStep("node", routeTables),
};

const besides = "ratio: time, CPU, memory";

/** What a command used, in a cell. `inner`: the figures are spreads, of which this one counts. */
function use(records: Records, of: string, inner?: string): string {
  const [wallMs, cpuMs, mb] = ["wallMs", "cpuMs", "peakRssMb"].map((name) => figure(records, of, name, inner));
  const cells = [
    withUnit(wallMs ?? Number.NaN, "ms"),
    withUnit(cpuMs ?? Number.NaN, "ms CPU"),
    withUnit(mb ?? Number.NaN, "MB"),
  ];
  return cells.filter((cell) => cell !== "").join(", ");
}

function ratios(records: Records, ours: string, theirs: string, inner?: string): string {
  const of = ["wallMs", "cpuMs", "peakRssMb"].map((name) =>
    ratio(figure(records, ours, name, inner), figure(records, theirs, name, inner)),
  );
  return of.filter((cell) => cell !== "").join(", ");
}

const starts = [
  ["version", "`cattail version`"],
  ["help", "`cattail --help`, `calicoctl --help`"],
  ["read one object", "read one object from the API server"],
  ["demo's first line", "`cattail demo` until its first line"],
  ["demo", "`cattail demo` until it prints the dashboard's address"],
  ["typha ready", "`cattail typha` until it is ready, on an API server"],
  ["demo's first line from sources", "`npm start`: first line"],
  ["demo from sources", "`npm start`: the dashboard's address"],
  ["first demo's first line from sources", "`npm start` for the very first time: first line"],
  ["first demo from sources", "`npm start` for the very first time: the dashboard's address"],
] as const;

function startTables(records: Records): string {
  const rows = starts.flatMap(([what, says]) => {
    const cpuMs = (who: string) => figure(records, `${what}, ${who}`, "cpuMs", "median");
    const [ours = "", before = ""] = ["cattail", "before"].map((who) => use(records, `${what}, ${who}`, "median"));
    const original = ["original", "calicoctl"].find((who) => Number.isFinite(cpuMs(who))) ?? "original";
    const shares = ["before", original].map((who) => ratio(cpuMs("cattail"), cpuMs(who)));
    return ours === "" ? [] : [[says, ours, before, use(records, `${what}, ${original}`, "median"), ...shares]];
  });
  const header = ["command", "Cattail", "release 0.1", "the original", "CPU / release 0.1", "CPU / the original"];
  return withoutEmptyColumns(header, rows);
}

function folderTable(records: Records): string {
  const named = records.find(({ of }) => of.endsWith("objects, first time"))?.of.slice("folder: ".length);
  const objects = named?.replace(/, first time$/, "") ?? "objects";
  const many = objects.replace(/^\d+/, (digits) => shown(Number(digits)));
  const toldAfter = "a write's answer to the watch event in another process";
  const rows: [says: string, of: string, name: string, unit: string][] = [
    ["writes a second, one process", "one process", "writesPerSecond", ""],
    ["CPU of a write, one process", "one process", "cpuMsPerWrite", "ms"],
    ["writes a second, four processes on one folder", "4 processes", "writesPerSecond", ""],
    ["CPU of a write, four processes (each also follows the other three)", "4 processes", "cpuMsPerWrite", "ms"],
    [`open a folder of ${many}, first time`, `${objects}, first time`, "openMs", "ms"],
    [`open a folder of ${many}, again`, `${objects}, again`, "openMs", "ms"],
    [`CPU of the whole process, first time`, `${objects}, first time`, "cpuMs", "ms"],
    [`list ${many} once it is open`, `${objects}, again`, "listMs", "ms"],
    [`memory with ${many}`, `${objects}, first time`, "rssMb", "MB"],
    ["from the answer of a write to the event in another process, median", toldAfter, "medianMs", "ms"],
    ["the same, p99", toldAfter, "p99Ms", "ms"],
  ];
  return withoutEmptyColumns(
    ["", "measured"],
    rows.map(([says, of, name, unit]) => [says, withUnit(figure(records, `folder: ${of}`, name), unit)]),
  );
}

const ctlScenes = [
  ["get nodes", "`get nodes`, 20 nodes"],
  ["get ippools -o wide", "`get ippools -o wide`"],
  ["apply one pool", "`apply -f` of one pool that exists"],
  ["ipam show --show-blocks", "`ipam show --show-blocks`, 20 blocks"],
  ["ipam show --show-blocks, 1000 blocks", "`ipam show --show-blocks`, 1,000 blocks"],
  ["get nodes, 1000 nodes", "`get nodes`, 1,000 nodes"],
  ["apply 200 objects, new", "`apply -f` of 200 new objects"],
  ["apply 200 objects, unchanged", "`apply -f` of the same 200, unchanged"],
] as const;

function ctlTable(records: Records): string {
  const rows = ctlScenes.flatMap(([what, says]) => {
    const ours = use(records, `${what}, cattail`, "median");
    const theirs = use(records, `${what}, original`, "median");
    return ours === ""
      ? []
      : [[says, ours, theirs, ratios(records, `${what}, cattail`, `${what}, original`, "median")]];
  });
  return withoutEmptyColumns(["command", "Cattail", "the original", besides], rows);
}

function ipamTable(records: Records): string {
  const rows = [
    ["cattail, resident", "resident cache, as in the agent"],
    ["cattail, program", "`cattail cni ipam`, started for each call"],
    ["original", "the original, started for each call"],
  ].map(([of = "", says = ""]) => {
    const cell = (name: string, unit: string) => withUnit(figure(records, of, name), unit);
    return [
      ...[says, cell("addCalls", ""), cell("delCalls", ""), cell("addMs", "ms"), cell("delMs", "ms")],
      ...[cell("addsPerSecond", ""), cell("delsPerSecond", "")],
    ];
  });
  const header = [
    "",
    "ADD, calls",
    "DEL, calls",
    "ADD",
    "DEL",
    "ADD a second, 16 at a time",
    "DEL a second, 16 at a time",
  ];
  const measured = rows.filter(([, ...cells]) => cells.some((each) => each !== ""));
  const kept = (name: string, unit: string) => withUnit(figure(records, "memory", name), unit);
  const memory = `\n\nOne cache keeps ${kept("keptKb", "KB")} with 20 nodes, and ${kept("keptKbInLarger", "KB")} with ${kept("others", "nodes")}.`;
  return `${withoutEmptyColumns(header, measured)}${kept("keptKb", "KB") === "" ? "" : memory}`;
}

function cniTable(records: Records): string {
  const whos = [
    ["cattail, agent", "`cni-plugin.cjs`, with an agent"],
    ["cattail, alone", "`cni-plugin.cjs`, without an agent"],
    ["original", "the original"],
    ["ptp, host-local", "`ptp` with `host-local`, which ask nobody"],
  ] as const;
  const columns: readonly (readonly [head: string, names: readonly string[], unit: string])[] = [
    ["ADD, p50", ["addP50Ms"], "ms"],
    ["ADD, p99", ["addP99Ms"], "ms"],
    ["DEL, p50", ["delP50Ms"], "ms"],
    ["DEL, p99", ["delP99Ms"], "ms"],
    ["requests of ADD, DEL", ["addRequests", "delRequests"], ""],
    ["CPU of ADD, DEL", ["addCpuMs", "delCpuMs"], "ms"],
    ["and of the agent, a call", ["agentCpuMs"], "ms"],
    ["peak memory", ["peakMb"], "MB"],
    ["a second, 16 at a time: ADD, DEL", ["addsPerSecond", "delsPerSecond"], ""],
  ];
  const isMeasured = (of: string) => records.some((record) => record.of === of);
  const rows = whos.flatMap(([of, says]) =>
    isMeasured(of)
      ? [
          [
            says,
            ...columns.map(([, names, unit]) => {
              const values = names.map((name) => figure(records, of, name));
              // An agent of which nobody asks anything uses nothing.
              return names[0] === "agentCpuMs" && values[0] === 0
                ? ""
                : values.map((value) => withUnit(value, unit)).join(", ");
            }),
          ],
        ]
      : [],
  );
  if (isMeasured("original")) {
    const share = (name: string) => {
      const better = name.endsWith("PerSecond") ? "more" : "less";
      return ratio(figure(records, "cattail, agent", name), figure(records, "original", name), better);
    };
    const cells = columns.map(([, names]) =>
      names
        .map(share)
        .filter((cell) => cell !== "")
        .join(", "),
    );
    rows.push(["with an agent / the original", ...cells]);
  }
  return withoutEmptyColumns(["", ...columns.map(([head]) => head)], rows);
}

function birdTable(records: Records): string {
  const row = (says: string, name: string, unit: string): FigureRow => ({
    ...{ says, name, unit },
    ...{ ours: "cattail", theirs: "original" },
  });
  const rows = [
    row("start, until all sessions are written", "startMs", "ms"),
    row("a BGPPeer until BIRD has it, p50", "changeMs", "ms"),
    row("memory", "residentMb", "MB"),
    row("processor time of the last start and the changes", "cpuSeconds", "s"),
  ];
  return figureTable(records, `a mesh of ${shown(figure(records, "cattail", "nodes"))} nodes`, rows);
}

function startupTable(records: Records): string {
  const rows = [
    ["start-up, everything exists", "`node startup`, everything exists"],
    ["health --felix-ready", "`node health --felix-ready`"],
  ].map(([what, says = ""]) => [
    says,
    ...["cattail", "original"].map((who) => use(records, `${what}, ${who}`)),
    ratios(records, `${what}, cattail`, `${what}, original`),
  ]);
  return withoutEmptyColumns(["command", "Cattail", "the original", besides], rows);
}

function routeTables(records: Records): string {
  const tables = places.map((place) => {
    const row = (says: string, name: string, unit: string): FigureRow => ({
      ...{ says, name, unit },
      ...{ ours: `routes of a node, ${place}, cattail`, theirs: `routes of a node, ${place}, original` },
    });
    return figureTable(records, place, [
      row("start to all routes", "startMs", "ms"),
      row("CPU until then", "startCpuMs", "ms"),
      row("a new block to its route", "addP50Ms", "ms"),
      row("idle, CPU of one core", "idleCpuPercent", "%"),
      row("memory, resident", "residentMb", "MB"),
    ]);
  });
  const [ours, theirs] = [togetherMb(records, ourPrograms), togetherMb(records, theirPrograms)];
  if (Number.isFinite(ours)) {
    const cells = ["memory, resident", withUnit(ours, "MB"), withUnit(theirs, "MB"), ratio(ours, theirs)];
    const header = [
      "everything that a node runs",
      "`cattail node run`",
      "Felix, confd and node-services",
      "Cattail / the original",
    ];
    tables.push(withoutEmptyColumns(header, [cells]));
  }
  return tables.join("\n\n");
}

function policyTable(records: Records): string {
  const row = (scene: string, says: string, name: string, unit: string): FigureRow => ({
    ...{ says, name, unit, better: unit.endsWith("/s") ? "more" : "less" },
    ...{ ours: `${scene}, cattail`, theirs: `${scene}, original` },
  });
  const many = ["100 endpoints", "500 endpoints", "1000 endpoints", "1000 policies"];
  const on = ["0 policies", "10", "200", "10000 elsewhere"];
  const said = (name: string) => name.replace("000", ",000").replace("elsewhere", "policies that do not apply");
  const rows = [
    ...many.map((what) => row("start", `first complete table, ${said(what)}: time`, `${what}: empty kernel ms`, "ms")),
    ...many.map((what) => row("start", `the same: CPU, ${said(what)}`, `${what}: CPU s`, "s")),
    ...many.map((what) => row("start", `with the table there, ${said(what)}: time`, `${what}: same table ms`, "ms")),
    ...many.map((what) => row("start", `memory, ${said(what)}`, `${what}: RSS MiB`, "MiB")),
    row("write", "policy written to first denied flow, p50", "written to denied p50 ms", "ms"),
    row("write", "the same, p99", "p99 ms", "ms"),
    row("write", "policy deleted to first allowed flow, p50", "deleted to allowed p50 ms", "ms"),
    row("write", "the same, p99", "allowed p99 ms", "ms"),
    row(
      "labels",
      "CPU for 1,000 label changes of a pod that moves between ten sets",
      "CPU s for 1000 label changes",
      "s",
    ),
    row("set", "all 5,000 networks of a set replaced, until packets see it", "5000 networks replaced ms", "ms"),
    ...on.map((what) => row("throughput", `one TCP stream, ${onPod(what)}`, `${what}: Gbit/s`, "Gbit/s")),
    ...on.map((what) =>
      row("throughput", `datagrams of 64 bytes, ${onPod(what)}`, `${what}: 1000 packets/s`, "thousand/s"),
    ),
    row("throughput", "memory, 10,000 policies that do not apply", "10000 elsewhere: RSS MiB", "MiB"),
  ];
  const [gbit, thousands] = ["Gbit/s", "1000 packets/s"].map((name) => figure(records, "throughput, no agent", name));
  const floor = Number.isFinite(gbit)
    ? `\n\nWithout an agent and without rules: ${withUnit(gbit ?? 0, "Gbit/s")}, ${withUnit(thousands ?? 0, "thousand datagrams a second")}.`
    : "";
  return `${figureTable(records, "what", rows)}${floor}`;
}

function onPod(what: string): string {
  if (what === "10000 elsewhere") return "10,000 policies that do not apply";
  return `${what.replace(" policies", "")} policies on the pod`;
}
