// The tables of docs/performance.md and README.md about Typha and its parts: one function per block between the markers <!-- figures:NAME --> and
// <!-- /figures:NAME -->. Those about a node and the goals are in node-tables.ts and goal-table.ts, those of docs/reliability.md in campaign-tables.ts.
import type { Recorded } from "../../test/kit/record.ts";
import type { Sitting, StepResult } from "./sitting.ts";
import { shown } from "./svg.ts";

export type Block = (sitting: Sitting) => string;

export const typhaBlocks: { readonly [name: string]: Block } = {
  "beside-the-original": besideTheOriginal,
  fanout: withStep("fanout", fanoutTable),
  flat: withStep("flat", flatTable),
  gob: withStep("gob", gobTable),
  netlink: withStep("netlink", netlinkTable),
  conversion: withStep("convert", convertTable),
  datastore: withStep("datastore", datastoreTable),
  wire: withStep("wire", wireTable),
  client: withStep("client", clientTable),
  dashboard: withStep("dashboard", dashboardTables),
};

/** A table, and under it when, where and how it was measured. */
export function withStep(name: string, make: (records: readonly Recorded[]) => string): Block {
  return ({ steps }) => {
    const step = steps[name];
    if (step === undefined) return `Not measured in this sitting: \`npm run figures -- --only ${name}\`.`;
    if (step.records.length === 0)
      return `**The newest run measured nothing (${step.outcome}).** ${circumstancesOf(step)}`;
    return `${make(step.records)}\n\n${circumstancesOf(step)}`;
  };
}

export function circumstancesOf({ date, machine, versions, load, command, outcome }: StepResult): string {
  const cores = Number.parseInt(machine, 10);
  const busy = load > cores / 2 ? ` The load average was ${load} when it began, so times may be upper bounds.` : "";
  const not = outcome === "passed" ? "" : ` **It did not pass (${outcome}).**`;
  const { cattail = "", commit = "", node = "", go = "" } = versions;
  return `${date.slice(0, 10)}, ${machine}; Cattail ${cattail} (${commit}), Node ${node.slice(1)}, ${go.replace("go", "Go ")}; \`${command}\`.${busy}${not}`;
}

export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, header.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`);
  return lines.join("\n").replaceAll(/\| {2}(?=\|)/g, "| ");
}

/** A figure by its name, or by the name of a group and its name in it. */
export function number(record: Recorded | undefined, name: string, inner?: string): number {
  const figure = record?.figures[name];
  if (inner !== undefined && typeof figure === "object") return figure[inner] ?? Number.NaN;
  return typeof figure === "number" ? figure : Number.NaN;
}

export function words(record: Recorded, name: string): string {
  const figure = record.figures[name];
  return typeof figure === "string" ? figure : "";
}

export type Scenario = { readonly name: string; readonly servers: ReadonlyMap<string, Recorded> };

/** The scenarios, each with what was measured of every server, in the order in which that was done. */
export function scenarios(records: readonly Recorded[]): Scenario[] {
  const byName = Map.groupBy(records, ({ of }) => of.split(" ")[0] ?? "");
  return [...byName].map(([name, list]) => ({
    name,
    servers: new Map(list.map((record) => [words(record, "server"), record])),
  }));
}

/** What a reader wants to know first: our share of the original's cost, in each scenario in which both were measured. */
function besideTheOriginal({ steps }: Sitting): string {
  const { fanout } = steps;
  if (fanout === undefined) return "Not measured in this sitting: `npm run figures -- --only fanout`.";
  const rows = scenarios(fanout.records).flatMap(({ servers }) => {
    const [ours, theirs] = [servers.get("cattail"), servers.get("against")];
    if (ours === undefined || theirs === undefined) return [];
    const share = (name: string) => ratio(number(ours, name) / number(theirs, name));
    return [[words(ours, "says"), share("cpuMicrosPerDelivery"), share("p99Ms"), share("rssMb")]];
  });
  const not = fanout.outcome === "passed" ? "" : ` **It did not pass (${fanout.outcome}).**`;
  const when = `${fanout.date.slice(0, 10)}, ${fanout.machine}.${not}`;
  if (rows.length === 0) return `The newest run did not measure the two beside each other: ${when}`;
  const header = ["Cattail / calico/typha (below 1 is better)", "CPU", "p99 latency", "memory"];
  return `${table(header, rows)}\n\n${when}`;
}

function ratio(value: number): string {
  if (Number.isNaN(value)) return "";
  return value < 1 ? `**${value.toFixed(2)}**` : value.toFixed(2);
}

function fanoutTable(records: readonly Recorded[]): string {
  const columns = ["p50Ms", "p99Ms", "inSyncMs", "snapshotCpuMs", "rssMb"];
  const rows = scenarios(records).flatMap(({ name, servers }) => {
    const costs = [...servers.values()].map((record) => number(record, "cpuMicrosPerDelivery"));
    const ours = number(servers.get("cattail"), "cpuMicrosPerDelivery");
    return [...servers].map(([server, record], index) => {
      const cost = number(record, "cpuMicrosPerDelivery");
      const price = cost <= Math.min(...costs) ? `**${shown(cost)}**` : shown(cost);
      const times = server === "cattail" || Number.isNaN(ours) ? "" : ` (${(cost / ours).toFixed(1)}×)`;
      const first = index === 0 ? `\`${name}\`: ${words(record, "says")}` : "";
      return [first, server, `${price}${times}`, ...columns.map((column) => shown(number(record, column)))];
    });
  });
  const header = [
    "scenario",
    "server",
    "µs CPU per delivery",
    "p50 ms",
    "p99 ms",
    "all in sync ms",
    "snapshot CPU ms",
    "RSS MB",
  ];
  return table(header, rows);
}

function flatTable(records: readonly Recorded[]): string {
  const rows = scenarios(records).map(({ servers }) => {
    const costs = ["cattail", "go-per-client"].map((server) => number(servers.get(server), "cpuMicrosPerDelivery"));
    return [shown(number([...servers.values()][0], "clients")), ...costs.map(shown)];
  });
  return table(["clients", "cattail, µs CPU per delivery", "go-per-client"], rows);
}

function gobTable([record]: readonly Recorded[]): string {
  const row = (says: string, ours: string, theirs: string) => {
    const [mine, go] = [number(record, "ours", ours), number(record, "go", theirs)];
    return [says, `${shown(mine / 1000)} µs`, `${shown(go / 1000)} µs`, (mine / go).toFixed(2)];
  };
  return table(
    [`one message of ${shown(number(record, "messageBytes"))} bytes`, "ours", "Go", "ours / Go"],
    [
      row("encode from scratch", "encodeNs", "encodeNs"),
      row("encode from pieces made before, as the server does", "spliceNs", "encodeNs"),
      row("decode", "decodeNs", "decodeNs"),
    ],
  );
}

function netlinkTable([record]: readonly Recorded[]): string {
  const rows = ["add", "list", "delete"].map((job) => {
    const ms = (name: string): number => number(record, job, name);
    return [
      job,
      `${shown(ms("oursMs"))} (${shown(ms("oursCpuMs"))})`,
      shown(ms("firstMs")),
      `${shown(ms("ipMs"))} (${shown(ms("ipCpuMs"))})`,
      (ms("oursMs") / ms("ipMs")).toFixed(2),
    ];
  });
  return table([record?.of ?? "routes", "ours, ms (CPU)", "the first time, ms", "`ip`, ms (CPU)", "ours / ip"], rows);
}

function convertTable([record]: readonly Recorded[]): string {
  const [plain, ours] = [number(record, "plainMs"), number(record, "convertMs")];
  const row = [
    shown(number(record, "pods")),
    `${shown(plain)} ms`,
    `${shown(ours)} ms`,
    (ours / plain).toFixed(2),
    "1.5",
  ];
  return table(
    ["pods", "JSON.parse + JSON.stringify, CPU", "to endpoints with their JSON, CPU", "times", "goal"],
    [row],
  );
}

function datastoreTable(records: readonly Recorded[]): string {
  const rows = records.map((record) => [
    record.of === "pages" ? "list in pages" : "streamed list",
    shown(number(record, "pods")),
    number(record, "timesRawCpu").toFixed(2),
    `${shown(number(record, "peakRssMb"))} MB`,
  ]);
  return table(
    ["", "pods", "CPU, times that of reading the bytes and JSON.parse (goal 1.5)", "peak RSS (goal 600 MB)"],
    rows,
  );
}

function wireTable([record]: readonly Recorded[]): string {
  const [ours, go] = [number(record, "ours", "cpuMs"), number(record, "go", "cpuMs")];
  return table(
    ["keys", "ours, CPU", "Go, CPU", "ours / Go"],
    [[shown(number(record, "keys")), `${shown(ours)} ms`, `${shown(go)} ms`, (ours / go).toFixed(2)]],
  );
}

function clientTable([record]: readonly Recorded[]): string {
  const go = number(record, "go", "cpuMs");
  const row = (says: string, name: string) => {
    const ours = number(record, name, "cpuMs");
    return [says, `${shown(ours)} ms`, `${shown(go)} ms`, (ours / go).toFixed(2)];
  };
  return table(
    [`${shown(number(record, "keys"))} keys`, "ours, CPU", "Go, CPU", "ours / Go"],
    [row("a program just started", "first"), row("reconnecting in a program that runs", "later")],
  );
}

function dashboardTables(records: readonly Recorded[]): string {
  const [questions, pages] = ["question", "page"].map((is) => records.filter((record) => words(record, "is") === is));
  const asked = (questions ?? []).map((record) => [
    `\`${record.of.replace(/ \(.*/, "")}\`${/ \(.*/.exec(record.of)?.[0] ?? ""}`,
    ...["medianMs", "worstMs", "cpuMs"].map((name) => `${shown(number(record, name))} ms`),
  ]);
  const open = (pages ?? []).map((record) => [
    record.of,
    `${number(record, "percent").toFixed(1)} %`,
    record.of === "no page open" ? "" : `${number(record, "morePercent").toFixed(1)} %`,
  ]);
  return `${table(["question on the debug address", "median", "worst of 20", "server CPU"], asked)}\n\n${table(["open page", "server uses, of one core", "so the page costs"], open)}`;
}
