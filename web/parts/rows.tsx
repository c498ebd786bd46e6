// A table of thousands of rows of one height, of which only those in sight exist in the page.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

export type Column<Row> = {
  readonly title: string;
  readonly width: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly sortBy?: (row: Row) => string | number;
};

export type RowsProps<Row> = {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  rowClass?: (row: Row) => string;
};

const rowPx = 36;
const sparePx = 360;

export function Rows<Row>({ label, columns, rows, rowKey, rowClass }: RowsProps<Row>) {
  const [order, setOrder] = useState<{ column: number; ascending: boolean }>();
  const [topPx, setTopPx] = useState(0);
  const box = useRef<HTMLElement>(null);
  const sorted = order === undefined ? rows : sortRows(rows, columns[order.column]?.sortBy, order.ascending);
  const heightPx = box.current?.clientHeight ?? 600;
  const first = Math.max(0, Math.floor((topPx - sparePx) / rowPx));
  const last = Math.min(sorted.length, Math.ceil((topPx + heightPx + sparePx) / rowPx));
  return (
    <section
      class="rows"
      ref={box}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard
      tabIndex={0}
      onScroll={(event) => setTopPx(event.currentTarget.scrollTop)}
    >
      <table aria-rowcount={sorted.length + 1}>
        <colgroup>
          {columns.map(({ title, width }) => (
            <col key={title} style={{ width }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column, index) => (
              <th scope="col" key={column.title} aria-sort={sortState(order, index)}>
                {column.sortBy === undefined ? (
                  column.title
                ) : (
                  <button type="button" onClick={() => setOrder(nextOrder(order, index))}>
                    {column.title}
                    {order?.column === index ? (order.ascending ? " ▲" : " ▼") : ""}
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr class="spacer" style={{ height: `${first * rowPx}px` }} />
          {sorted.slice(first, last).map((row, index) => (
            <tr class={rowClass?.(row) ?? ""} key={rowKey(row)} aria-rowindex={first + index + 2}>
              {columns.map((column) => (
                <td key={column.title}>{column.cell(row)}</td>
              ))}
            </tr>
          ))}
          <tr class="spacer" style={{ height: `${(sorted.length - last) * rowPx}px` }} />
        </tbody>
      </table>
    </section>
  );
}

type Order = { column: number; ascending: boolean } | undefined;

function sortRows<Row>(rows: readonly Row[], by: Column<Row>["sortBy"], ascending: boolean): readonly Row[] {
  if (by === undefined) return rows;
  const sign = ascending ? 1 : -1;
  return rows.toSorted((left, right) => {
    const [a, b] = [by(left), by(right)];
    return a < b ? -sign : a > b ? sign : 0;
  });
}

function nextOrder(order: Order, column: number): Order {
  if (order?.column !== column) return { column, ascending: true };
  return order.ascending ? { column, ascending: false } : undefined;
}

function sortState(order: Order, column: number): "ascending" | "descending" | "none" {
  if (order?.column !== column) return "none";
  return order.ascending ? "ascending" : "descending";
}
