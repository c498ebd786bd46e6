// What all of Calico's own policies share.
import { float, lazy, list, optional, text } from "../../model/index.ts";
import { cell, nameCell, orderCell } from "../columns.ts";
import { celRules, isFilled, isOn, noGlobal } from "../parts/cel.ts";
import { rules } from "./rule.ts";

export const selector = () => text({ maxLength: 1024 });
const asSet = { "x-kubernetes-list-type": "set" };

export const tierAndOrder = () => ({ tier: text({ default: "default" }), order: optional(float()) });
export const ruleFields = () => ({ ingress: rules, egress: rules });
export const types = lazy(() => list(text({ enum: ["Ingress", "Egress"] }), { minItems: 1, maxItems: 2, ...asSet }));
export const performanceHints = lazy(() => list(text({ enum: ["AssumeNeededOnEveryNode"] }), asSet));
export const stagedAction = () => text({ enum: ["Set", "Delete", "Learn", "Ignore"], default: "Set" });

export const namespacedRules = () => celRules(noGlobal("selector"), noGlobal("serviceAccountSelector"));

export const globalRules = () =>
  celRules(
    {
      rule: `!${isOn("doNotTrack")} || !${isOn("preDNAT")}`,
      message: "preDNAT and doNotTrack cannot both be true",
      reason: "FieldValueForbidden",
    },
    {
      rule: `!${isOn("preDNAT")} || !${isFilled("egress")}`,
      message: "preDNAT policy cannot have any egress rules",
      reason: "FieldValueForbidden",
    },
    {
      rule: `!${isOn("preDNAT")} || !has(self.types) || !self.types.exists(t, t == 'Egress')`,
      message: "preDNAT policy cannot have 'Egress' type",
      reason: "FieldValueForbidden",
    },
    {
      rule: `${isOn("applyOnForward")} || (!${isOn("doNotTrack")} && !${isOn("preDNAT")})`,
      message: "applyOnForward must be true if either preDNAT or doNotTrack is true",
    },
    noGlobal("selector"),
    noGlobal("serviceAccountSelector"),
    noGlobal("namespaceSelector"),
  );

/** What a table shows of every kind of policy that is in a tier. */
export const policyColumns = {
  ps: [nameCell, cell("TIER", "spec.tier")],
  wide: [nameCell, cell("TIER", "spec.tier"), orderCell, cell("SELECTOR", "spec.selector")],
};

/** What `kubectl get` shows of them. */
export const policyPrinterColumns = [
  ["Tier", ".spec.tier", "string"],
  ["Order", ".spec.order", "number"],
] as const;
