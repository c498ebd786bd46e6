// What the tables and the goals ask of results in which Cattail and others were measured in turns: a figure by the name of its record, and how many
// times the other's it is. What was not measured is NaN, and NaN is never shown as a number.
import { median } from "../../bench/median.ts";
import type { Recorded } from "../../test/kit/record.ts";
import { shown } from "./svg.ts";
import { number, table } from "./tables.ts";

export type Records = readonly Recorded[];

/** The middle one where it was measured in several turns. */
export function figure(records: Records, of: string, name: string, inner?: string): number {
  const turns = records.filter((record) => record.of === of).map((record) => number(record, name, inner));
  return median(turns.filter((value) => Number.isFinite(value)));
}

/** A number with its unit, or nothing. */
export function withUnit(value: number, unit: string): string {
  return Number.isFinite(value) ? `${shown(value)}${unit === "" ? "" : ` ${unit}`}` : "";
}

/** Ours divided by the other's, in bold where ours is better. */
export function ratio(ours: number, theirs: number, better: "less" | "more" = "less"): string {
  const value = ours / theirs;
  if (!Number.isFinite(value)) return "";
  const isBetter = better === "less" ? value < 1 : value > 1;
  return isBetter ? `**${value.toFixed(2)}**` : value.toFixed(2);
}

export type FigureRow = {
  readonly says: string;
  /** The names of the two records. */
  readonly ours: string;
  readonly theirs: string;
  readonly name: string;
  readonly unit: string;
  /** Less, where it is not said. */
  readonly better?: "less" | "more";
};

/** A row for each figure that was measured. */
export function figureTable(records: Records, head: string, rows: readonly FigureRow[]): string {
  const cells = rows.flatMap(({ says, ours, theirs, name, unit, better }) => {
    const [mine, other] = [figure(records, ours, name), figure(records, theirs, name)];
    if (!Number.isFinite(mine) && !Number.isFinite(other)) return [];
    return [[says, withUnit(mine, unit), withUnit(other, unit), ratio(mine, other, better)]];
  });
  return withoutEmptyColumns([head, "Cattail", "the original", "Cattail / the original"], cells);
}

/** Without the columns in which nothing stands: nobody was measured there. */
export function withoutEmptyColumns(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const kept = header.flatMap((_, column) =>
    column === 0 || rows.some((row) => (row[column] ?? "") !== "") ? [column] : [],
  );
  const of = (row: readonly string[]) => kept.map((column) => row[column] ?? "");
  return table(of(header), rows.map(of));
}

/** Where a node reads what other nodes have. */
export const places = ["straight on etcd", "behind a Typha"] as const;
export const ourPrograms = ["node run"];
export const theirPrograms = ["felix", "confd", "node-services"];

/** Of everything that a side runs on a node, together. */
export function togetherMb(records: Records, programs: readonly string[]): number {
  return programs.reduce((sum, name) => sum + figure(records, "memory of a node's programs", name), 0);
}
