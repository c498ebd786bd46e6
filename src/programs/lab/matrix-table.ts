// The matrix of pings as a table for people: a time where all were answered, the share that was lost where not.
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
  const { kind, from, to, address, pinged } = pair;
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
    address,
    sent: pinged.sent,
    received: pinged.received,
    ...(median === undefined ? {} : { medianMs: Math.round(median * 100) / 100 }),
    ...(says === undefined ? {} : { says }),
  };
}

export type TableOptions = {
  readonly isColoured: boolean;
  /** Of the terminal; undefined: as wide as it likes. */
  readonly columns?: number | undefined;
};

/** Senders down, receivers across; one below the other where there are two families of addresses. */
export function matrixTable(rows: readonly PingRow[], options: TableOptions): string {
  if (rows.length === 0) return "The lab has no pods to ping: cattail lab pod add NAME";
  const [four, six] = [rows.filter(({ address }) => !isSix(address)), rows.filter(({ address }) => isSix(address))];
  if (six.length === 0) return familyTable(four, options);
  return `IPv4\n${familyTable(four, options)}\n\nIPv6\n${familyTable(six, options)}`;
}

const isSix = (address: string): boolean => address.includes(":");

function familyTable(
  rows: readonly PingRow[],
  { isColoured, columns = Number.POSITIVE_INFINITY }: TableOptions,
): string {
  const colour = (text: string, code: number) => (isColoured ? `\u001b[${code}m${text}\u001b[0m` : text);
  const ends = new Map(rows.flatMap((row) => [[row.from, row.fromNode] as const, [row.to, row.toNode] as const]));
  const names = [...ends.keys()].sort(
    (a, b) => Number(ends.get(a) === a) - Number(ends.get(b) === b) || a.localeCompare(b),
  );
  const labels = names.map((name) => (ends.get(name) === name ? name : `${name} (${ends.get(name)})`));
  const wide = drawn(rows, { names, labels, heads: headsOf(names, rows), cell: cellOf, corner: "from / to", colour });
  const isWide = wide.width > columns;
  const { lines } = isWide
    ? drawn(rows, { ...numbered(names, labels), cell: shortCellOf, gap: " ", corner: "from / to, ms", colour })
    : wide;
  return [...lines, "", verdictOf(rows, colour)].join("\n");
}

/** An IPv6 address is wider than what stands below it. */
function headsOf(names: readonly string[], rows: readonly PingRow[]): string[] {
  const addresses = new Map(rows.map((row) => [row.to, row.address]));
  return names.map((name) => {
    const address = addresses.get(name);
    return (address === undefined || isSix(address) ? name : address).padEnd(8);
  });
}

/** For a narrow terminal: each has a number, which stands at the top. */
function numbered(names: readonly string[], labels: readonly string[]) {
  const number = (i: number) => String(i + 1).padStart(String(names.length).length);
  return {
    names,
    labels: labels.map((label, i) => `${number(i)} ${label}`),
    heads: names.map((_, i) => String(i + 1).padEnd(5)),
  };
}

type Cell = { readonly text: string; readonly isGood: boolean };

type Drawing = {
  readonly names: readonly string[];
  readonly labels: readonly string[];
  readonly heads: readonly string[];
  readonly cell: (row: PingRow | undefined) => Cell;
  readonly corner: string;
  readonly gap?: string;
  readonly colour: (text: string, code: number) => string;
};

function drawn(rows: readonly PingRow[], { names, labels, heads, cell, corner, gap = "  ", colour }: Drawing) {
  const width = Math.max(corner.length, ...labels.map((label) => label.length));
  const lines = names.map((from, at) => {
    const cells = names.map((to, i) => {
      const row = rows.find((each) => each.from === from && each.to === to);
      const { text, isGood } = cell(row);
      return colour(text.padEnd(heads[i]?.length ?? 0), row === undefined ? 2 : isGood ? 32 : 31);
    });
    return `${labels[at]?.padEnd(width)}  ${cells.join(gap)}`.trimEnd();
  });
  const head = `${corner.padEnd(width)}  ${heads.join(gap)}`.trimEnd();
  return { width: head.length, lines: [colour(head, 1), ...lines] };
}

function verdictOf(rows: readonly PingRow[], colour: Drawing["colour"]): string {
  const failed = rows.filter(({ sent, received }) => received < sent);
  const kinds = pairKinds.flatMap((kind) => {
    const own = rows.filter((row) => row.kind === kind);
    if (own.length === 0) return [];
    return [`${kind} ${own.filter(({ sent, received }) => received === sent).length}/${own.length}`];
  });
  const verdict =
    failed.length === 0 ? "All pings are answered" : `${failed.length} of ${rows.length} pings have no answer`;
  return colour(`${verdict}: ${kinds.join(", ")}`, failed.length === 0 ? 32 : 31);
}

function cellOf(row: PingRow | undefined): Cell {
  if (row === undefined) return { text: "-", isGood: true };
  const { sent, received, medianMs, says } = row;
  // Rounded to hundredths: a shorter time is not none.
  if (received === sent) return { text: medianMs === 0 ? "<0.01 ms" : `${medianMs} ms`, isGood: true };
  const loss = Math.round(((sent - received) / Math.max(1, sent)) * 100);
  return { text: says === undefined ? `${loss} %` : plainLine(says), isGood: false };
}

function shortCellOf(row: PingRow | undefined): Cell {
  const { text, isGood } = cellOf(row);
  return { text: isGood ? text.replace(" ms", "") : "lost", isGood };
}
