// The DSCP annotation of pods and host endpoints: a number or one of the names of the standard.
import type { NumberOrText, StringMap } from "../../model/index.ts";
import { annotationField, ownText } from "../object/annotations.ts";
import type { Warning } from "../processor/processor.ts";

const annotation = "qos.projectcalico.org/dscp";
const names = new Set(
  "DF EF AF11 AF12 AF13 AF21 AF22 AF23 AF31 AF32 AF33 AF41 AF42 AF43 CS0 CS1 CS2 CS3 CS4 CS5 CS6".split(" "),
);
const digits = /^[0-9]+$/;

/** Undefined: not given, or not a DSCP value, which is said. */
export function readDscp(annotations: StringMap, warnings: Warning[]): NumberOrText | undefined {
  const text = ownText(annotations, annotation);
  if (text === undefined) return undefined;
  const value = parseDscp(text);
  if (value === undefined) {
    const rule = "must be 0 to 63 or a DSCP name such as AF11";
    warnings.push({ field: annotationField(annotation), rule, effect: "dropped" });
  }
  return value;
}

/** The original accepts a name with blanks around it and sends it with them. */
function parseDscp(text: string): NumberOrText | undefined {
  if (digits.test(text)) return Number(text) <= 63 ? Number(text) : undefined;
  const upper = text.toUpperCase();
  if (names.has(upper)) return upper;
  return names.has(upper.trim()) ? text : undefined;
}
