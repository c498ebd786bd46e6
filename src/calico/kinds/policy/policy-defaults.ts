// What is filled into a policy when it is written, and the rule that needs a datastore.
import type { CrossRule, SpecObject } from "../kind.ts";
import type { PolicySpec } from "./policy-checks.ts";

const tierLabel = "projectcalico.org/tier";

/** Its types, from the rules that there are; and the label by which the policies of a tier are found. */
export function fillPolicy<S extends PolicySpec>({ metadata, spec }: SpecObject<S>): SpecObject<S> {
  const tier = spec.tier === undefined || spec.tier === "" ? "default" : spec.tier;
  const isGoing = spec.stagedAction === "Delete";
  const types = spec.types === undefined || spec.types.length === 0 ? typesOf(spec) : spec.types;
  return {
    metadata: { ...metadata, labels: { ...metadata.labels, [tierLabel]: tier } },
    spec: isGoing ? spec : { ...spec, types },
  };
}

function typesOf({ ingress = [], egress = [] }: PolicySpec): string[] {
  if (egress.length === 0) return ["Ingress"];
  return ingress.length === 0 ? ["Egress"] : ["Ingress", "Egress"];
}

export const tierExists: CrossRule = {
  before: ["create"],
  needs: ["Tier"],
  rule: "the tier must exist: resource does not exist: Tier(t)",
};
