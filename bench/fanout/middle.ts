// Several runs of one scenario with one server as one result: of each figure the middle one, because a busy moment of the
// machine moves latencies by more than the servers differ.
import { median } from "../median.ts";
import type { Result } from "./scenarios.ts";

export function middle(runs: readonly Result[]): Result {
  const [first] = runs;
  if (first === undefined) throw new Error("there is no run to take the middle of");
  const names = Object.keys(first) as (keyof Result)[]; // a result has no other members
  const entries = names.map((name) => {
    const values = runs.map((run) => run[name]).filter((value) => typeof value === "number");
    return [name, values.length === 0 ? first[name] : median(values)];
  });
  return Object.fromEntries(entries) as Result; // the same fields
}
