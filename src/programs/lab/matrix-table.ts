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

/** Senders down, receivers across; one below the other where there are two families of addresses. */
export function matrixTable(rows: readonly PingRow[], options: { isColoured: boolean }): string {
  const [four, six] = [rows.filter(({ address }) => !isSix(address)), rows.filter(({ address }) => isSix(address))];
  if (six.length === 0) return familyTable(four, options);
  return `IPv4\n${familyTable(four, options)}\n\nIPv6\n${familyTable(six, options)}`;
}

const isSix = (address: string): boolean => address.includes(":");

function familyTable(rows: readonly PingRow[], options: { isColoured: boolean }): string {
  const colour = (text: string, code: number) => (options.isColoured ? `\u001b[${code}m${text}\u001b[0m` : text);
  const ends = new Map(rows.flatMap((row) => [[row.from, row.fromNode] as const, [row.to, row.toNode] as const]));
  const addresses = new Map(rows.map((row) => [row.to, row.address]));
  const names = [...ends.keys()].sort(
    (a, b) => Number(ends.get(a) === a) - Number(ends.get(b) === b) || a.localeCompare(b),
  );
  const label = (name: string) => (ends.get(name) === name ? name : `${name} (${ends.get(name)})`);
  // An IPv6 address is wider than what stands below it.
  const heads = names.map((name) => {
    const address = addresses.get(name);
    return address === undefined || isSix(address) ? name : address;
  });
  const width = Math.max(...names.map((name) => label(name).length), "from / to".length);
  const widths = heads.map((head) => Math.max(head.length, 8));
  const lines = names.map((from) => {
    const cells = names.map((to, i) => {
      const row = rows.find((each) => each.from === from && each.to === to);
      const { text, isGood } = cellOf(row);
      return colour(text.padEnd(widths[i] ?? 0), row === undefined ? 2 : isGood ? 32 : 31);
    });
    return `${label(from).padEnd(width)}  ${cells.join("  ")}`.trimEnd();
  });
  const failed = rows.filter(({ sent, received }) => received < sent);
  const kinds = pairKinds.flatMap((kind) => {
    const own = rows.filter((row) => row.kind === kind);
    if (own.length === 0) return [];
    return [`${kind} ${own.filter(({ sent, received }) => received === sent).length}/${own.length}`];
  });
  const verdict =
    failed.length === 0 ? "All pings are answered" : `${failed.length} of ${rows.length} pings have no answer`;
  return [
    colour(
      `${"from / to".padEnd(width)}  ${heads.map((head, i) => head.padEnd(widths[i] ?? 0)).join("  ")}`.trimEnd(),
      1,
    ),
    ...lines,
    "",
    colour(`${verdict}: ${kinds.join(", ")}`, failed.length === 0 ? 32 : 31),
  ].join("\n");
}

function cellOf(row: PingRow | undefined): { text: string; isGood: boolean } {
  if (row === undefined) return { text: "-", isGood: true };
  const { sent, received, medianMs, says } = row;
  // Rounded to hundredths: a shorter time is not none.
  if (received === sent) return { text: medianMs === 0 ? "<0.01 ms" : `${medianMs} ms`, isGood: true };
  const loss = Math.round(((sent - received) / Math.max(1, sent)) * 100);
  return { text: says === undefined ? `${loss} %` : plainLine(says), isGood: false };
}
