// StagedNetworkPolicy: a NetworkPolicy that would be enforced, were it not staged.
import { lazy, type SchemaType, struct } from "../../model/index.ts";
import { printGo } from "../checks/check.ts";
import { followedResource, forSpec, type SpecObject, specChecks } from "../kind.ts";
import { networkPolicyChecks, networkPolicyFields } from "./network-policy.ts";
import { policyProblems, stagedDeleteProblems } from "./policy-checks.ts";
import { fillPolicy, tierExists } from "./policy-defaults.ts";
import { namespacedRules, policyColumns, policyPrinterColumns, stagedAction } from "./policy-fields.ts";

export const stagedNetworkPolicySpec = lazy(() =>
  struct({ stagedAction: stagedAction(), ...networkPolicyFields() }, namespacedRules()),
);

type Spec = SchemaType<typeof stagedNetworkPolicySpec>;

/** As Go prints the spec, whose types were emptied before. */
const printSpec = (s: Spec) =>
  printGo([
    s.stagedAction ?? "",
    s.tier ?? "",
    s.order,
    s.ingress ?? [],
    s.egress ?? [],
    s.selector ?? "",
    [],
    s.serviceAccountSelector ?? "",
    s.performanceHints ?? [],
  ])
    .replace(/^\[/, "{")
    .replace(/\]$/, "}");

function* wholeChecks(object: SpecObject<Spec>) {
  const { spec } = object;
  yield* policyProblems(object, { specName: "StagedNetworkPolicySpec", isGlobal: false });
  yield* stagedDeleteProblems(spec, {
    specName: "StagedNetworkPolicySpec",
    value: printSpec(spec),
    except: ", except Tier,",
    besides: ["tier", "types"],
  });
}

export const stagedNetworkPolicy = followedResource("StagedNetworkPolicy", {
  carries: "optional",
  names: ["stagednetworkpolicy", "stagednetworkpolicies", "stagedpolicy", "snp", "stagedpolicies", "spol", "spols"],
  columns: policyColumns,
  schema: { spec: stagedNetworkPolicySpec },
  newGroup: { shortNames: ["scnp", "snp"], columns: policyPrinterColumns, selectable: [".spec.tier"] },
  fill: forSpec(fillPolicy),
  checks: specChecks(networkPolicyChecks),
  wholeChecks: forSpec(wholeChecks),
  crossRules: [tierExists],
});
