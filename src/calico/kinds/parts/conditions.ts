// status.conditions as Kubernetes defines them for every kind.
import { int64, integer, kept, lazy, list, required, struct, text, time } from "../../model/index.ts";

const label = "([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?";

export const condition = lazy(() =>
  struct({
    type: required(kept(text({ maxLength: 316, pattern: `^${label}(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$` }))),
    status: required(kept(text({ enum: ["True", "False", "Unknown"] }))),
    observedGeneration: integer(int64, { format: "int64", minimum: 0 }),
    lastTransitionTime: required(kept(time)),
    reason: required(
      kept(text({ minLength: 1, maxLength: 1024, pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" })),
    ),
    message: required(kept(text({ maxLength: 32768 }))),
  }),
);

export const conditionsStatus = lazy(() =>
  struct({
    conditions: list(condition, { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] }),
  }),
);
