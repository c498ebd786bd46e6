// Calico's NetworkPolicy: a policy for the endpoints of its namespace.
import { lazy, type SchemaType, struct } from "../../model/index.ts";
import { each, fields, filled } from "../checks/check.ts";
import { allOf, name, selector as selectorTag, unique } from "../checks/tags.ts";
import { followedResource, forSpec, type SpecObject, specChecks } from "../kind.ts";
import { policyProblems } from "./policy-checks.ts";
import { fillPolicy, tierExists } from "./policy-defaults.ts";
import {
  namespacedRules,
  performanceHints,
  policyColumns,
  policyPrinterColumns,
  ruleFields,
  selector,
  tierAndOrder,
  types,
} from "./policy-fields.ts";
import { ruleChecks } from "./rule-checks.ts";

export const networkPolicyFields = () => ({
  ...tierAndOrder(),
  ...ruleFields(),
  selector: selector(),
  types,
  serviceAccountSelector: selector(),
  performanceHints,
});

export const networkPolicySpec = lazy(() => struct(networkPolicyFields(), namespacedRules()));
export type NetworkPolicySpec = SchemaType<typeof networkPolicySpec>;

export const networkPolicyChecks = () =>
  fields<NetworkPolicySpec>({
    tier: filled(name),
    ingress: each(ruleChecks),
    egress: each(ruleChecks),
    selector: filled(selectorTag),
    serviceAccountSelector: filled(selectorTag),

    performanceHints: filled(unique, allOf("AssumeNeededOnEveryNode")),
  });

const wholeChecks = (object: SpecObject<NetworkPolicySpec>) =>
  policyProblems(object, { specName: "NetworkPolicySpec", isGlobal: false });

export const networkPolicy = followedResource("NetworkPolicy", {
  carries: "enforcement",
  names: ["networkpolicy", "networkpolicies", "policy", "np", "policies", "pol", "pols"],
  columns: policyColumns,
  schema: { spec: networkPolicySpec },
  newGroup: {
    shortNames: ["cnp", "caliconetworkpolicy"],
    columns: policyPrinterColumns,
    selectable: [".spec.tier"],
  },
  fill: forSpec(fillPolicy),
  checks: specChecks(networkPolicyChecks),
  wholeChecks: forSpec(wholeChecks),
  crossRules: [tierExists],
});
