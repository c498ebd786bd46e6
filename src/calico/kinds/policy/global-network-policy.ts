// GlobalNetworkPolicy: a policy for endpoints of all namespaces, and of none.
import { flag, lazy, type SchemaType, struct } from "../../model/index.ts";
import { each, fields, filled } from "../checks/check.ts";
import { allOf, name, selector as selectorTag, unique } from "../checks/tags.ts";
import { followedResource, forSpec, type SpecObject, specChecks } from "../kind.ts";
import { policyProblems } from "./policy-checks.ts";
import { fillPolicy, tierExists } from "./policy-defaults.ts";
import {
  globalRules,
  performanceHints,
  policyColumns,
  policyPrinterColumns,
  ruleFields,
  selector,
  tierAndOrder,
  types,
} from "./policy-fields.ts";
import { ruleChecks } from "./rule-checks.ts";

export const globalPolicyFields = () => ({
  ...tierAndOrder(),
  ...ruleFields(),
  selector: selector(),
  types,
  doNotTrack: flag(),
  preDNAT: flag(),
  applyOnForward: flag(),
  serviceAccountSelector: selector(),
  namespaceSelector: selector(),
  performanceHints,
});

export const globalNetworkPolicySpec = lazy(() => struct(globalPolicyFields(), globalRules()));
export type GlobalNetworkPolicySpec = SchemaType<typeof globalNetworkPolicySpec>;

export const globalPolicyChecks = () =>
  fields<GlobalNetworkPolicySpec>({
    tier: filled(name),
    ingress: each(ruleChecks),
    egress: each(ruleChecks),
    selector: filled(selectorTag),
    serviceAccountSelector: filled(selectorTag),
    namespaceSelector: filled(selectorTag),
    performanceHints: filled(unique, allOf("AssumeNeededOnEveryNode")),
  });

const wholeChecks = (object: SpecObject<GlobalNetworkPolicySpec>) =>
  policyProblems(object, { specName: "GlobalNetworkPolicySpec", isGlobal: true });

export const globalNetworkPolicy = followedResource("GlobalNetworkPolicy", {
  carries: "enforcement",
  names: ["globalnetworkpolicy", "globalnetworkpolicies", "gnp", "gnps"],
  columns: policyColumns,
  schema: { spec: globalNetworkPolicySpec },
  newGroup: {
    shortNames: ["gnp", "cgnp"],
    columns: [...policyPrinterColumns, ["Age", ".metadata.creationTimestamp", "date"]],
    selectable: [".spec.tier"],
  },
  fill: forSpec(fillPolicy),
  checks: specChecks(globalPolicyChecks),
  wholeChecks: forSpec(wholeChecks),
  crossRules: [tierExists],
});
