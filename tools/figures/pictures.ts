// Which plots there are, each made from the results of a step; a step that was not measured has no plot.
import type { Recorded } from "../../test/kit/record.ts";
import type { Sitting } from "./sitting.ts";
import { type BarGroup, barChart, lineChart } from "./svg.ts";
import { number, scenarios, words } from "./tables.ts";

export const plotsFolder = "docs/images/plots";
const serverNames = new Map([
  ["cattail", "Cattail"],
  ["go-per-client", "a Go server that encodes for every client"],
  ["against", "another Typha"],
]);

/** File names and what is in them. */
export function pictures({ steps }: Sitting): Map<string, string> {
  const made = new Map<string, string>();
  const add = (name: string, step: string, draw: (records: readonly Recorded[]) => string): void => {
    const records = steps[step]?.records ?? [];
    if (records.length > 0) made.set(`${name}.svg`, draw(records));
  };
  for (const { name, title, axis, figure } of fanoutPlots) {
    add(name, "fanout", (records) => barChart(fanoutChart(records, { title, axis, figure })));
  }
  add("flat", "flat", flatPlot);
  add("faults", "faults", faultsPlot);
  const relative = beside(steps);
  if (relative.length > 0) made.set("beside.svg", besidePlot(relative));
  return made;
}

const fanoutPlots = [
  {
    name: "fanout-cpu",
    title: "What one delivered update costs the server",
    axis: "µs of CPU, less is better",
    figure: "cpuMicrosPerDelivery",
  },
  {
    name: "fanout-latency",
    title: "How late the slowest hundredth is",
    axis: "ms (99th percentile), less is better",
    figure: "p99Ms",
  },
  {
    name: "fanout-memory",
    title: "What the server holds in memory",
    axis: "MB resident, less is better",
    figure: "rssMb",
  },
];

function fanoutChart(records: readonly Recorded[], how: { title: string; axis: string; figure: string }) {
  const groups = scenarios(records).map(({ name, servers }): BarGroup => {
    const bars = [...servers].map(([server, record]) => ({
      series: serverNames.get(server) ?? server,
      value: number(record, how.figure),
    }));
    return { label: name, bars: bars.filter(({ value }) => Number.isFinite(value)) };
  });
  const what = records.filter((record) => words(record, "server") === "cattail");
  const scenariosSaid = what.map((record) => `${record.of.split(" ")[0]}: ${words(record, "says")}`);
  return {
    title: how.title,
    desc: `${how.axis}, in each scenario for each server. ${scenariosSaid.join("; ")}.`,
    axis: how.axis,
    groups,
  };
}

function flatPlot(records: readonly Recorded[]): string {
  const list = scenarios(records);
  const series = [...serverNames].map(([server, name]) => ({
    name,
    points: list.flatMap(({ servers }) => {
      const record = servers.get(server);
      return record === undefined ? [] : [{ x: number(record, "clients"), y: number(record, "cpuMicrosPerDelivery") }];
    }),
  }));
  return lineChart({
    title: "What one delivered update costs, the more clients there are",
    desc: "µs of server CPU for one update delivered to one client, in batches of 100, against the number of clients.",
    xAxis: "clients",
    yAxis: "µs of CPU per delivery",
    series: series.filter(({ points }) => points.length > 0),
  });
}

function faultsPlot(records: readonly Recorded[]): string {
  const counts = new Map<string, number>();
  for (const { figures } of records) {
    const byFault = typeof figures.byFault === "object" ? figures.byFault : {};
    for (const [name, times] of Object.entries(byFault)) counts.set(name, (counts.get(name) ?? 0) + times);
  }
  const sorted = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const divergences = records.reduce((sum, record) => sum + number(record, "divergences"), 0);
  return barChart({
    title: `Faults that were made, and ${divergences} divergences after them`,
    desc: "How often each kind of fault was made in the campaign, over all datastores.",
    axis: "times",
    groups: sorted.map(([label, value]) => ({ label, bars: [{ series: "faults", value }] })),
  });
}

/** How many times the CPU of what it is compared with each thing takes: Go, or nothing but parsing. */
function beside(steps: Sitting["steps"]): { label: string; value: number }[] {
  const [gob, wire, client, convert] = ["gob", "wire", "client", "convert"].map((name) => steps[name]?.records[0]);
  const datastore = (of: string) => steps.datastore?.records.find((record) => record.of === of);
  const rows = [
    { label: "gob: encode, of Go's", value: number(gob, "ours", "encodeNs") / number(gob, "go", "encodeNs") },
    {
      label: "gob: encode from pieces, of Go's",
      value: number(gob, "ours", "spliceNs") / number(gob, "go", "encodeNs"),
    },
    { label: "gob: decode, of Go's", value: number(gob, "ours", "decodeNs") / number(gob, "go", "decodeNs") },
    { label: "wire: read a snapshot, of Go's", value: number(wire, "ours", "cpuMs") / number(wire, "go", "cpuMs") },
    { label: "client: just started, of Go's", value: number(client, "first", "cpuMs") / number(client, "go", "cpuMs") },
    { label: "client: reconnecting, of Go's", value: number(client, "later", "cpuMs") / number(client, "go", "cpuMs") },
    { label: "convert pods, of parsing them", value: number(convert, "convertMs") / number(convert, "plainMs") },
    { label: "list pods in pages, of reading", value: number(datastore("pages"), "timesRawCpu") },
    { label: "list pods streamed, of reading", value: number(datastore("stream"), "timesRawCpu") },
  ];
  return rows.filter(({ value }) => Number.isFinite(value));
}

function besidePlot(rows: readonly { label: string; value: number }[]): string {
  return barChart({
    title: "CPU next to what it is measured by",
    desc: "CPU time as a multiple of Go's for the same work, or of reading and parsing the same bytes; at 1 both take as long.",
    axis: "times, less is better",
    groups: rows.map(({ label, value }) => ({ label, bars: [{ series: "Cattail", value }] })),
    mark: { value: 1, label: "as long" },
  });
}
