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

/** The original prints Go's own dump of the struct; the same facts, as a selector is written. */
export const podSelectorCell: Column = {
  heading: "PODSELECTOR",
  cell: (object) => {
    const selector = valueAt(object, "spec.podSelector");
    return selector === undefined ? "" : JSON.stringify(selector);
  },
};
