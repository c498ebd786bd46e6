// Tier: the order in which groups of policies are asked, and what happens when none of a group applies.
import { float, lazy, optional, type SchemaType, struct, text } from "../../model/index.ts";
import { fields, given } from "../checks/check.ts";
import { isDnsLabel, maxLabelBytes, strictMetadataProblems } from "../checks/metadata.ts";
import { oneOf } from "../checks/tags.ts";
import { nameCell, orderCell } from "../columns.ts";
import { followedResource, forSpec, type SpecObject, specChecks } from "../kind.ts";
import { type CelRule, celRules } from "../parts/cel.ts";
import { conditionsStatus } from "../parts/conditions.ts";

/** The order of a tier that has none, in Kubernetes. */
export const defaultTierOrder = 1_000_000;

/** The tiers that every cluster has. */
export const builtInTiers = [
  { name: "default", order: defaultTierOrder, defaultAction: "Deny" },
  { name: "kube-admin", order: 1000, defaultAction: "Pass" },
  { name: "kube-baseline", order: 10_000_000, defaultAction: "Pass" },
] as const;

type BuiltIn = (typeof builtInTiers)[number];
const pinnedAction = ({ name, defaultAction: action }: BuiltIn): CelRule => ({
  rule: `self.metadata.name != '${name}' || (has(self.spec.defaultAction) && self.spec.defaultAction == '${action}')`,
  message: `The '${name}' tier must have default action '${action}'`,
});
const pinnedOrder = ({ name, order }: BuiltIn): CelRule => ({
  rule: `self.metadata.name != '${name}' || (has(self.spec.order) && self.spec.order == ${order}.0)`,
  message: `${name} tier order must be ${order}`,
});

export const tierSpec = lazy(() =>
  struct({
    order: optional(float()),
    defaultAction: optional(
      text({ allOf: [{ enum: ["Allow", "Deny", "Log", "Pass"] }, { enum: ["Pass", "Deny"] }], default: "Deny" }),
    ),
  }),
);

/** In the order in which the original tells what is broken: of the default tier the action comes last. */
const tierRules = () => {
  const [byDefault, ...others] = builtInTiers;
  return celRules(...[...others, byDefault].map(pinnedAction), ...builtInTiers.map(pinnedOrder));
};

type TierSpec = SchemaType<typeof tierSpec>;

const fill = ({ metadata, spec }: SpecObject<TierSpec>): SpecObject<TierSpec> => ({
  metadata,
  spec: { ...spec, order: spec.order ?? defaultTierOrder, defaultAction: spec.defaultAction ?? "Deny" },
});

export const tier = followedResource("Tier", {
  carries: "enforcement",
  names: ["tier", "tiers"],
  columns: { ps: [nameCell, orderCell] },
  rights: {
    typha: ["get", "create"],
    node: ["list", "create"],
  },
  schema: {
    spec: tierSpec,
    status: conditionsStatus,
    get crd() {
      return { ...tierRules(), required: ["metadata", "spec"] };
    },
  },
  newGroup: {
    columns: [
      ["Order", ".spec.order", "integer"],
      ["DefaultAction", ".spec.defaultAction", "string"],
      ["Status", ".status.conditions[?(@.type=='Ready')].reason", "string"],
    ],
  },
  fill: forSpec(fill),
  fillsOnRead: true,
  checks: specChecks(() => fields<TierSpec>({ defaultAction: given(oneOf("Pass", "Deny")) })),
  wholeChecks: ({ metadata }) => strictMetadataProblems(metadata, { isName: isDnsLabel, maxBytes: maxLabelBytes }),
  crossRules: [
    {
      before: ["delete"],
      needs: ["GlobalNetworkPolicy", "NetworkPolicy", "StagedGlobalNetworkPolicy", "StagedNetworkPolicy"],
      rule: "a tier that a policy names cannot go: operation delete is not supported on t: Cannot delete a non-empty tier",
    },
  ],
});
