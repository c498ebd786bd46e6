// Who may talk to whom, as a table: a row for each sender, a column for each receiver.
import { judge, judgePorts, type Place, type PolicyData, type World, worldOf } from "../policy/index.ts";
import { checkPort, echoOf, isWithPorts, readProtocol, trafficText } from "./protocol.ts";
import { notKnownNamespace } from "./subject.ts";
import { portText } from "./words.ts";

export type Matrix = {
  readonly traffic: string;
  readonly family: 4 | 6;
  readonly names: readonly string[];
  /** "all", "none", or the ports, by row and column; "" on the diagonal. */
  readonly cells: readonly (readonly string[])[];
};

export type MatrixQuestion = {
  /** "": of every namespace. */
  readonly namespace: string;
  readonly protocol: string;
  readonly port: number | undefined;
  /** Between addresses of this family. */
  readonly family: 4 | 6;
};

export function matrixOf({ namespace, protocol: name, port, family }: MatrixQuestion, data: PolicyData): Matrix {
  const protocol = readProtocol(name, family);
  checkPort(protocol, port);
  if (namespace !== "" && !data.profiles.has(`kns.${namespace}`)) throw notKnownNamespace(namespace, data);
  const world = worldOf(data);
  const pods = [...data.workloads.values()]
    .filter(({ workload }) => namespace === "" || workload.startsWith(`${namespace}/`))
    .toSorted((a, b) => (a.workload < b.workload ? -1 : 1))
    .flatMap((workload): (Place & { is: "workload" })[] => {
      const address = workload.addresses.find((one) => one.family === family);
      return address === undefined ? [] : [{ is: "workload", workload, address }];
    });
  const cells = pods.map((source) =>
    pods.map((destination) => (source === destination ? "" : cellOf({ source, destination, protocol }, port, world))),
  );
  const shown = (workload: string) => (namespace === "" ? workload : workload.slice(namespace.length + 1));
  const traffic = `${trafficText(protocol, port)}${family === 6 ? " (IPv6)" : ""}`;
  return { traffic, family, names: pods.map(({ workload }) => shown(workload.workload)), cells };
}

function cellOf(
  flow: { source: Place; destination: Place; protocol: number },
  port: number | undefined,
  world: World,
): string {
  const icmp = echoOf(flow.protocol);
  if (port !== undefined || !isWithPorts(flow.protocol)) {
    const asked = {
      ...flow,
      ...(icmp === undefined ? {} : { icmp }),
      ...(port === undefined ? {} : { destinationPort: port }),
    };
    return judge(asked, world).verdict === "allow" ? "all" : "none";
  }
  const open = judgePorts(flow, world).filter(({ verdict }) => verdict.verdict === "allow");
  if (open.length === 0) return "none";
  const [first] = open;
  return open.length === 1 && first?.first === 0 && first.last === 65535 ? "all" : joined(open).map(portText).join(",");
}

/** Ranges that differ only in the rule that opens them are one range here. */
function joined(ranges: readonly { readonly first: number; readonly last: number }[]) {
  const out: { first: number; last: number }[] = [];
  for (const { first, last } of ranges) {
    const before = out.at(-1);
    if (before !== undefined && before.last + 1 === first) before.last = last;
    else out.push({ first, last });
  }
  return out;
}

export function matrixText(
  { traffic, family, names, cells }: Matrix,
  options: {
    readonly isColoured: boolean /** Who else could be asked about. */;
    readonly namespaces: readonly string[];
  },
): string {
  if (names.length === 0) return noPods(family, options.namespaces);
  const rowWidth = Math.max(...names.map((name) => name.length), "from \\ to".length);
  const widths = names.map((name, column) =>
    Math.max(name.length, ...cells.map((row) => wordOf(row[column] ?? "").length)),
  );
  const header = ["from \\ to".padEnd(rowWidth), ...names.map((name, column) => name.padEnd(widths[column] ?? 0))].join(
    "  ",
  );
  const rows = cells.map((row, index) =>
    [
      (names[index] ?? "").padEnd(rowWidth),
      ...row.map((cell, column) => painted(cell, wordOf(cell).padEnd(widths[column] ?? 0), options)),
    ].join("  "),
  );
  const isAboutPorts = cells.some((row) => row.some((cell) => !["", "all", "none"].includes(cell)));
  const cellsSay = isAboutPorts ? " (yes: every port; a number: only these ports)" : "";
  return [`Who may talk to whom over ${traffic}${cellsSay}:`, "", header, ...rows]
    .map((line) => line.trimEnd())
    .join("\n");
}

/** Namespaces that have pods, as endpoints say. */
export function namespacesWithPods(data: PolicyData): readonly string[] {
  const names = [...data.workloads.values()].map(({ workload }) => workload.split("/")[0] ?? "");
  return [...new Set(names)].sort();
}

function noPods(family: 4 | 6, namespaces: readonly string[]): string {
  const none = `No pod with an IPv${family} address is known there.`;
  if (namespaces.length === 0) return none;
  const shown = namespaces.slice(0, 10).join(", ");
  return `${none} Pods are in ${shown}${namespaces.length > 10 ? ", ..." : ""}: ask with -n NAMESPACE, or -A for all.`;
}

function wordOf(cell: string): string {
  if (cell === "all") return "yes";
  return cell === "none" ? "no" : cell;
}

function painted(cell: string, text: string, { isColoured }: { readonly isColoured: boolean }): string {
  if (!isColoured || cell === "") return text;
  return `\u001b[${cell === "all" ? 32 : cell === "none" ? 31 : 33}m${text}\u001b[0m`;
}
