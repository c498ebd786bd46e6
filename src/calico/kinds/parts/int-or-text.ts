// Kubernetes' IntOrString, a port by number or by name: what it is on the way in, it is on the way out.
import { goNumberOrText, int32, lazy, type Schema, scalar } from "../../model/index.ts";

export const intOrText: Schema<number | string> = lazy(() =>
  scalar<number | string>({
    read: (value) => {
      if (typeof value === "string") return value;
      const isInt32 = Number.isInteger(value) && Number(value) >= int32.min && Number(value) <= int32.max;
      return isInt32 ? Number(value) : undefined;
    },
    rule: "must be a port number or name",
    go: goNumberOrText,
    crd: { anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true },
  }),
);
