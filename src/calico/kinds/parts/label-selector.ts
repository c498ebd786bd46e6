// Kubernetes' label selector, as every kind of policy has it.
import { kept, lazy, list, map, required, type SchemaType, struct, text } from "../../model/index.ts";
import { type Column, valueAt } from "../columns.ts";

const atomic = { "x-kubernetes-list-type": "atomic" };

export const labelSelector = lazy(() =>
  struct(
    {
      matchLabels: map(text()),
      matchExpressions: list(
        struct({ key: required(kept(text())), operator: required(kept(text())), values: list(text(), atomic) }),
        atomic,
      ),
    },
    { "x-kubernetes-map-type": "atomic" },
  ),
);
export type LabelSelector = SchemaType<typeof labelSelector>;

/** As Go dumps the struct. */
export const podSelectorCell: Column = {
  heading: "PODSELECTOR",
  cell: (object) => {
    const { matchLabels = {}, matchExpressions = [] }: LabelSelector = Object(valueAt(object, "spec.podSelector"));
    const labels = Object.keys(matchLabels).sort();
    const pairs = labels.map((name) => `${name}: ${matchLabels[name]},`);
    const parts = matchExpressions.map(
      ({ key = "", operator = "", values = [] }) =>
        `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
    );
    const expressions = `[]LabelSelectorRequirement{${parts.join("")}}`;
    return `&LabelSelector{MatchLabels:map[string]string{${pairs.join("")}},MatchExpressions:${expressions},}`;
  },
};
