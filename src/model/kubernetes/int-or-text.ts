// Kubernetes' IntOrString: what it is on the way in, it is on the way out. Absent is the number 0.
import { type GoType, writeGoNumber, writeGoString } from "../go-json.ts";
import { type Schema, scalar } from "../schema.ts";

const go: GoType<number | string> = {
  write: (value) => (typeof value === "number" ? writeGoNumber(value) : writeGoString(value)),
  isEmpty: () => false,
  zero: "0",
};

export const intOrText: Schema<number | string> = scalar({
  read: (value) => (typeof value === "string" || Number.isInteger(value) ? (value as number | string) : undefined),
  rule: "must be a whole number or a text",
  go,
  crd: { "x-kubernetes-int-or-string": true },
});
