// The matrix of pings as a table for people.
import { plainLine } from "../../base/lib/index.ts";
import { isWhole, type PairKind, type PingedPair, pairKinds } from "./world/index.ts";

/** A pinged pair without the paths of namespaces: what goes over the lab's socket. */
export type PingRow = {
  readonly kind: PairKind;
  readonly from: string;
  readonly fromNode: string;
  readonly to: string;
  readonly toNode: string;
  readonly address: string;
  readonly sent: number;
  readonly received: number;
  readonly medianMs?: number;
  readonly says?: string;
};

export function rowOf(pair: PingedPair): PingRow {
  const { kind, from, to, pinged } = pair;
  const times = [...pinged.roundTripsMs].sort((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)];
  const [refusal] = pinged.refusals;
  const says = isWhole(pair) || refusal === undefined ? undefined : "errno" in refusal ? refusal.errno : refusal.is;
  return {
    kind,
    from: from.name,
    fromNode: from.node,
    to: to.name,
    toNode: to.node,
    address: to.address,
    sent: pinged.sent,
    received: pinged.received,
    ...(median === undefined ? {} : { medianMs: Math.round(median * 100) / 100 }),
    ...(says === undefined ? {} : { says }),
  };
}

export function matrixTable(rows: readonly PingRow[], options: { isColoured: boolean }): string {
  const colour = (text: string, code: number) => (options.isColoured ? `\u001b[${code}m${text}\u001b[0m` : text);
  const cells = rows.map(({ kind, from, fromNode, to, toNode, address, sent, received, medianMs, says }) => {
    const end = (name: string, node: string) => (name === node ? name : `${name} (${node})`);
    const loss = sent === 0 ? 100 : Math.round(((sent - received) / sent) * 100);
    const outcome = loss === 0 ? `0 % loss, ${medianMs} ms` : `${loss} % loss${says === undefined ? "" : `, ${says}`}`;
    return { cells: [kind, end(from, fromNode), end(to, toNode), address, plainLine(outcome)], isGood: loss === 0 };
  });
  const heading = ["what", "from", "to", "address", "answers"];
  const widths = heading.map((name, i) => Math.max(name.length, ...cells.map((row) => row.cells[i]?.length ?? 0)));
  const line = (texts: readonly string[]) =>
    texts
      .map((text, i) => text.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd();
  const failed = rows.filter(({ sent, received }) => received < sent);
  const kinds = pairKinds.flatMap((kind) => {
    const own = rows.filter((row) => row.kind === kind);
    if (own.length === 0) return [];
    return [`${kind} ${own.filter(({ sent, received }) => received === sent).length}/${own.length}`];
  });
  return [
    colour(line(heading), 1),
    ...cells.map((row) => colour(line(row.cells), row.isGood ? 32 : 31)),
    "",
    `${failed.length === 0 ? "All pings are answered" : `${failed.length} of ${rows.length} are not answered`}: ${kinds.join(", ")}`,
  ].join("\n");
}
