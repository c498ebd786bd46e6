// What a table of objects shows, as calicoctl shows it: a heading and the text of a cell for each column. A kind's file
// has the list; this one has the usual cells, which print values as Go's templates do.
import { isRecord, type JsonRecord } from "../../base/lib/index.ts";
import { printGoFloat } from "../model/index.ts";

/** What a cell needs to know besides the object. */
export type CellContext = {
  /** The AS number of nodes that have none of their own; undefined: it could not be read. */
  readonly defaultAsNumber: number | undefined;
};

export type Column = {
  readonly heading: string;
  readonly cell: (object: JsonRecord, context: CellContext) => string;
};

export type Columns = {
  readonly ps: readonly Column[];
  /** Absent: the same. */
  readonly wide?: readonly Column[];
  /** For custom-columns only. */
  readonly more?: readonly Column[];
};

/** The member at a path such as spec.cidr; undefined where there is none. */
export function valueAt(object: unknown, path: string): unknown {
  let value: unknown = object;
  for (const name of path.split(".")) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value ?? undefined;
}

/** A member as it is; `unset` where it is missing or empty. */
export const cell = (heading: string, path: string, unset = ""): Column => ({
  heading,
  cell: (object) => {
    const value = valueAt(object, path);
    return value === undefined || value === "" ? unset : String(value);
  },
});

/** A list's elements, with commas; or their number. */
export const listCell = (heading: string, path: string, most?: number): Column => ({
  heading,
  cell: (object) => truncate(listAt(object, path).map(String).join(","), most),
});

export const countCell = (heading: string, path: string): Column => ({
  heading,
  cell: (object) => String(listAt(object, path).length),
});

/** A float as Go prints it. */
export const orderCell: Column = {
  heading: "ORDER",
  cell: (object) => {
    const order = valueAt(object, "spec.order");
    return typeof order === "number" ? printGoFloat(order) : "<nil>";
  },
};

export const nameCell = cell("NAME", "metadata.name");
export const namespaceCell = cell("NAMESPACE", "metadata.namespace");

function listAt(object: JsonRecord, path: string): readonly unknown[] {
  const value = valueAt(object, path);
  return Array.isArray(value) ? value : [];
}

function truncate(text: string, most = Number.POSITIVE_INFINITY): string {
  return text.length <= most ? text : `${text.slice(0, most - 3)}...`;
}
