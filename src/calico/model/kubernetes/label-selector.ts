// Kubernetes' label selector, as every kind of policy has it.
import { kept, list, map, required, type SchemaType, struct, text } from "../schema.ts";

const atomic = { "x-kubernetes-list-type": "atomic" };

export const labelSelector = struct(
  {
    matchLabels: map(text()),
    matchExpressions: list(
      struct({ key: required(kept(text())), operator: required(kept(text())), values: list(text(), atomic) }),
      atomic,
    ),
  },
  { "x-kubernetes-map-type": "atomic" },
);
export type LabelSelector = SchemaType<typeof labelSelector>;
