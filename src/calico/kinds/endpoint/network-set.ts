// NetworkSet: networks that selectors of its namespace can choose by label.
import { lazy, list, type SchemaType, struct, text } from "../../model/index.ts";
import { each, fields, filled, type Problem } from "../checks/check.ts";
import { cidr } from "../checks/tags.ts";
import { listCell, nameCell } from "../columns.ts";
import { followedResource, type SpecObject, specChecks } from "../kind.ts";

export const networkSetSpec = lazy(() => struct({ nets: list(text(), { "x-kubernetes-list-type": "set" }) }));

export const netsCell = listCell("NETS", "spec.nets", 80);

export const networkSetChecks = specChecks(() =>
  fields<SchemaType<typeof networkSetSpec>>({ nets: each(filled(cidr)) }),
);

/** The label that says in which namespace a set is belongs to Calico. */
export function* networkSetProblems({ metadata }: SpecObject<object>): Generator<Problem> {
  const reserved = "projectcalico.org/namespace";
  if (!Object.hasOwn(metadata.labels ?? {}, reserved)) return;
  yield {
    field: `metadata.labels[${JSON.stringify(reserved)}]`,
    rule: "must not be given: it is Calico's own",
    name: "Metadata.Labels (label)",
    value: reserved,
    reason: `${reserved} is not a valid label name`,
  };
}

export const networkSet = followedResource("NetworkSet", {
  carries: "enforcement",
  names: ["networkset", "networksets", "netsets"],
  columns: { ps: [nameCell], wide: [nameCell, netsCell] },
  schema: { spec: networkSetSpec },
  checks: networkSetChecks,
  wholeChecks: networkSetProblems,
});
