// Everything that can be broken, in the order of the list that users see.
import { CattailError, nearest } from "../../../base/lib/index.ts";
import type { DatastoreOptions } from "../../../calico/datastore/index.ts";
import type { LabMode } from "../state.ts";
import type { Breakage } from "./breakage.ts";
import { datastoreBreakages } from "./datastore.ts";
import { ipv6Breakages } from "./ipv6.ts";
import { kernelTableBreakages } from "./kernel-tables.ts";
import { networkBreakages } from "./network.ts";
import { rightsBreakage } from "./rights.ts";

export type { Breakage } from "./breakage.ts";

export const breakages: readonly Breakage[] = [
  ...networkBreakages,
  ...kernelTableBreakages,
  ...datastoreBreakages,
  rightsBreakage,
  ...ipv6Breakages,
];

export type LabKind = {
  readonly mode: LabMode;
  readonly isDualStack: boolean;
  readonly datastore: DatastoreOptions["type"];
};

/** The flags of `lab up` for a lab in which it can be made. Undefined: in this one. */
export function wantsOf(
  { modes, needs, datastores }: Breakage,
  { mode, isDualStack, datastore }: LabKind,
): string | undefined {
  const flags = [
    ...(modes === undefined || modes.includes(mode) ? [] : [`--mode ${modes[0]}`]),
    ...(needs === undefined || isDualStack ? [] : ["--ipv6"]),
    ...(datastores === undefined || datastores.includes(datastore)
      ? []
      : datastores.includes("directory")
        ? ["without --etcd"]
        : ["--kubeconfig FILE"]),
  ];
  return flags.length === 0 ? undefined : flags.join(" ");
}

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

/** What a lab must have for it, in the words of `lab up`. */
export function conditionOf({ modes, needs, datastores }: Breakage): string {
  const parts = [
    ...(modes === undefined ? [] : [`--mode ${modes.join(" or ")}`]),
    ...(needs === undefined ? [] : ["--ipv6"]),
    ...(datastores === undefined ? [] : [datastores.includes("directory") ? "not --etcd" : "--kubeconfig"]),
  ];
  return parts.join(", ");
}

export function breakageList(): string {
  const width = (of: (each: Breakage) => string) => Math.max(...breakages.map((each) => of(each).length));
  const [names, codes] = [width(({ name }) => name), width(({ code }) => code)];
  return breakages
    .map((each) => {
      const { name, code, says } = each;
      const only = conditionOf(each) === "" ? "" : ` (${conditionOf(each)})`;
      return `${name.padEnd(names)}  ${code.padEnd(codes)}  ${says}${only}`;
    })
    .join("\n");
}
