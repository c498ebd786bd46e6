// StagedGlobalNetworkPolicy: a GlobalNetworkPolicy that would be enforced, were it not staged.
import { lazy, type SchemaType, struct } from "../../model/index.ts";
import { printGo } from "../checks/check.ts";
import { followedResource, forSpec, type SpecObject, specChecks } from "../kind.ts";
import { globalPolicyChecks, globalPolicyFields } from "./global-network-policy.ts";
import { policyProblems, stagedDeleteProblems } from "./policy-checks.ts";
import { fillPolicy, tierExists } from "./policy-defaults.ts";
import { globalRules, policyColumns, policyPrinterColumns, stagedAction } from "./policy-fields.ts";

export const stagedGlobalNetworkPolicySpec = lazy(() =>
  struct({ stagedAction: stagedAction(), ...globalPolicyFields() }, globalRules()),
);

type Spec = SchemaType<typeof stagedGlobalNetworkPolicySpec>;

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
    s.doNotTrack ?? false,
    s.preDNAT ?? false,
    s.applyOnForward ?? false,
    s.serviceAccountSelector ?? "",
    s.namespaceSelector ?? "",
    s.performanceHints ?? [],
  ])
    .replace(/^\[/, "{")
    .replace(/\]$/, "}");

function* wholeChecks(object: SpecObject<Spec>) {
  const { spec } = object;
  yield* policyProblems(object, { specName: "StagedGlobalNetworkPolicySpec", isGlobal: true });
  yield* stagedDeleteProblems(spec, {
    specName: "StagedGlobalNetworkPolicySpec",
    value: printSpec(spec),
    except: ", except Tier,",
    besides: ["tier", "types"],
  });
}

export const stagedGlobalNetworkPolicy = followedResource("StagedGlobalNetworkPolicy", {
  carries: "optional",
  names: ["stagedglobalnetworkpolicy", "stagedglobalnetworkpolicies", "sgnp", "sgnps"],
  columns: policyColumns,
  schema: { spec: stagedGlobalNetworkPolicySpec },
  newGroup: { shortNames: ["sgnp"], columns: policyPrinterColumns, selectable: [".spec.tier"] },
  fill: forSpec(fillPolicy),
  checks: specChecks(globalPolicyChecks),
  wholeChecks: forSpec(wholeChecks),
  crossRules: [tierExists],
});
