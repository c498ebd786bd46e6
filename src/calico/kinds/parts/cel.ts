// Rules across fields, which a CRD gives to the API server in its expression language (CEL).
import type { CrdSchema } from "../../model/index.ts";

export type CelRule = {
  readonly rule: string;
  readonly message: string;
  readonly reason?: "FieldValueForbidden" | "FieldValueRequired";
};

/** The messages are the original's: without an API server they are what its users see. */
export const celRules = (...rules: CelRule[]): CrdSchema => ({
  "x-kubernetes-validations": rules.map((rule) => ({ reason: "FieldValueInvalid", ...rule })),
});

/** The member of the object in question is there and not empty (texts and lists). */
export const isFilled = (name: string) => `(has(self.${name}) && size(self.${name}) > 0)`;

/** The member is there and true. */
export const isOn = (name: string) => `(has(self.${name}) && self.${name})`;

/** The two may not be filled at once. */
export function notBoth(a: string, b: string): CelRule {
  return {
    rule: `!${isFilled(a)} || !${isFilled(b)}`,
    message: `${a} and ${b} cannot both be set`,
    reason: "FieldValueForbidden",
  };
}

/** Endpoints have no global scope: only a rule's namespaceSelector may say global(). */
export const noGlobal = (
  name: string,
  message = "global() can only be used in an EntityRule namespaceSelector",
): CelRule => ({ rule: `!has(self.${name}) || !self.${name}.contains('global(')`, message });
