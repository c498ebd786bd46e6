// Everything that can be broken, in the order of the list that users see.
import { CattailError, nearest } from "../../../base/lib/index.ts";
import type { Breakage } from "./breakage.ts";
import { datastoreBreakages } from "./datastore.ts";
import { networkBreakages } from "./network.ts";

export type { Breakage } from "./breakage.ts";

export const breakages: readonly Breakage[] = [...networkBreakages, ...datastoreBreakages];

export function breakageNamed(name: string): Breakage {
  const found = breakages.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = breakages.map((each) => each.name);
  const meant = nearest(name, names);
  throw new CattailError("LAB_BREAK", {
    problem: `there is no breakage ${JSON.stringify(name)}${meant === undefined ? "" : `; did you mean ${meant}?`}`,
    next: `It has to be one of ${names.join(", ")}`,
  });
}

export function breakageList(): string {
  const width = (of: (each: Breakage) => string) => Math.max(...breakages.map((each) => of(each).length));
  const [names, codes] = [width(({ name }) => name), width(({ code }) => code)];
  return breakages
    .map(({ name, code, says, modes }) => {
      const only = modes === undefined ? "" : ` (--mode ${modes.join(" or ")})`;
      return `${name.padEnd(names)}  ${code.padEnd(codes)}  ${says}${only}`;
    })
    .join("\n");
}
