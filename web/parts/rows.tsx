// A table of thousands of rows of one height, of which only those in sight exist in the page.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export type Column<Row> = {
  readonly title: string;
  readonly width: string;
  /** Where there is little room; else all are alike there. */
  readonly narrowWidth?: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly sortBy?: (row: Row) => string | number;
  readonly isNumber?: boolean;
  /** Left out where there is no room. */
  readonly isMinor?: boolean;
};

export type RowsProps<Row> = {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  rowClass?: (row: Row) => string;
  rowPx?: number;
  /** Among other things on a page: no higher than its rows need. */
  isShort?: boolean;
};

type Order = { column: string; ascending: boolean } | undefined;

const sparePx = 360;

export function Rows<Row>({ label, columns: all, rows, rowKey, rowClass, rowPx = 36, isShort }: RowsProps<Row>) {
  const [order, setOrder] = useState<Order>();
  const [topPx, setTopPx] = useState(0);
  const [heightPx, setHeightPx] = useState(800);
  const box = useRef<HTMLElement>(null);
  const isNarrow = useNarrow();
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const resized = new ResizeObserver(() => setHeightPx(element.clientHeight));
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  const columns = isNarrow ? all.filter(({ isMinor }) => isMinor !== true) : all;
  const sortBy = columns.find(({ title }) => title === order?.column)?.sortBy;
  const sorted = order === undefined ? rows : sortRows(rows, sortBy, order.ascending);
  const first = Math.min(Math.max(0, Math.floor((topPx - sparePx) / rowPx)), sorted.length);
  const last = Math.min(sorted.length, Math.ceil((topPx + heightPx + sparePx) / rowPx));
  return (
    <section
      class={isShort === true ? "rows short" : "rows"}
      ref={box}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard
      tabIndex={0}
      onScroll={(event) => setTopPx(event.currentTarget.scrollTop)}
    >
      <table aria-rowcount={sorted.length + 1}>
        <colgroup>
          {columns.map(({ title, width, narrowWidth = "auto" }) => (
            <col key={title} style={{ width: isNarrow ? narrowWidth : width }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <th
                scope="col"
                key={column.title}
                class={column.isNumber === true ? "number" : ""}
                aria-sort={sortState(order, column.title)}
              >
                {column.sortBy === undefined ? (
                  column.title
                ) : (
                  <button type="button" onClick={() => setOrder(nextOrder(order, column.title))}>
                    {column.title}
                    {sortMark(order, column.title)}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr class="spacer" style={{ height: `${first * rowPx}px` }} />
          {sorted.slice(first, last).map((row, index) => (
            <tr
              class={rowClass?.(row) ?? ""}
              key={rowKey(row)}
              aria-rowindex={first + index + 2}
              style={{ height: `${rowPx}px` }}
            >
              {columns.map((column) => (
                <td key={column.title} class={column.isNumber === true ? "number" : ""}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          <tr class="spacer" style={{ height: `${(sorted.length - last) * rowPx}px` }} />
        </tbody>
      </table>
    </section>
  );
}

function sortRows<Row>(rows: readonly Row[], by: Column<Row>["sortBy"], ascending: boolean): readonly Row[] {
  if (by === undefined) return rows;
  const sign = ascending ? 1 : -1;
  return rows.toSorted((left, right) => {
    const [a, b] = [by(left), by(right)];
    return a < b ? -sign : a > b ? sign : 0;
  });
}

function nextOrder(order: Order, column: string): Order {
  if (order?.column !== column) return { column, ascending: true };
  return order.ascending ? { column, ascending: false } : undefined;
}

function sortState(order: Order, column: string): "ascending" | "descending" | "none" {
  if (order?.column !== column) return "none";
  return order.ascending ? "ascending" : "descending";
}

function sortMark(order: Order, column: string) {
  const mark = order?.column !== column ? "↕" : order.ascending ? "▲" : "▼";
  return (
    <span class="sort" aria-hidden="true">
      {mark}
    </span>
  );
}

/** True on a phone; the width is that of the style sheets. */
function useNarrow(): boolean {
  const query = "(max-width: 640px)";
  const [isNarrow, setNarrow] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const follow = () => setNarrow(list.matches);
    list.addEventListener("change", follow);
    return () => list.removeEventListener("change", follow);
  }, []);
  return isNarrow;
}
