// How many a list has, and that only the first of them are shown where there are too many.
import type { ComponentChildren } from "preact";
import { amount } from "../format.ts";

type TotalProps = { total: number; shown: number; one: string; many?: string; children?: ComponentChildren };

export function Total({ total, shown, one, many = `${one}s`, children }: TotalProps) {
  return (
    <p class="quiet" role="status">
      {amount(total)} {total === 1 ? one : many}
      {children}
      {total > shown ? `, the first ${amount(shown)} are shown; type to narrow them down` : ""}
    </p>
  );
}
