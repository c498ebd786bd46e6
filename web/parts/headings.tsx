// The line of column titles above a table; numbers stand on the right, and so do their titles.

export type Heading = string | { readonly number: string };

export function Headings({ columns }: { columns: readonly Heading[] }) {
  return (
    <tr>
      {columns.map((column) =>
        typeof column === "string" ? (
          <th scope="col" key={column}>
            {column}
          </th>
        ) : (
          <th scope="col" key={column.number} class="number">
            {column.number}
          </th>
        ),
      )}
    </tr>
  );
}
