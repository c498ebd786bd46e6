// Kubernetes' label selectors in their text form, as `kubectl -l` takes them, for datastores whose server cannot select:
//   app=web   app==web   app!=web   app in (web, api)   app notin (web)   app   !app   cpus>4   cpus<8
// Commas are "and". As in Kubernetes, != and notin also select what lacks the label.
import { DatastoreError } from "./errors.ts";

export type Labels = { readonly [name: string]: unknown };
type Test = (labels: Labels) => boolean;

const maxTextLength = 10_000;
const name = String.raw`[A-Za-z0-9](?:[\w./-]*\w)?`;
const value = String.raw`(?:[A-Za-z0-9](?:[\w.-]*\w)?)?`;
const exists = new RegExp(`^(!?)\\s*(${name})$`);
const compares = new RegExp(`^(${name})\\s*(==|=|!=|>|<)\\s*(${value})$`);
const isOneOf = new RegExp(`^(${name})\\s+(in|notin)\\s*\\((.*)\\)$`);

/** Throws "invalid" for what is no selector. The empty text selects everything. */
export function parseLabelSelector(text: string): (labels: Labels) => boolean {
  if (text.length > maxTextLength) throw notASelector(text, `is longer than ${maxTextLength} characters`);
  if (text.trim() === "") return () => true;
  const tests = splitOutsideBrackets(text).map((part) => toTest(part.trim(), text));
  return (labels) => tests.every((test) => test(labels));
}

function toTest(part: string, text: string): Test {
  const [, not, only] = exists.exec(part) ?? [];
  if (only !== undefined) return (labels) => (labelOf(labels, only) !== undefined) === (not === "");
  const [, compared, operator, wanted = ""] = compares.exec(part) ?? [];
  if (compared !== undefined) return comparison(compared, operator, wanted, text);
  const [, member, operation, list = ""] = isOneOf.exec(part) ?? [];
  if (member === undefined) throw notASelector(text, `"${part.slice(0, 80)}" is none of its forms`);
  const values = list.split(",").map((each) => each.trim());
  if (!values.every((each) => new RegExp(`^${value}$`).test(each))) {
    throw notASelector(text, `"${list.slice(0, 80)}" is no list of label values`);
  }
  return (labels) => values.includes(labelOf(labels, member) ?? absent) === (operation === "in");
}

function comparison(label: string, operator: string | undefined, wanted: string, text: string): Test {
  if (operator === "!=") return (labels) => labelOf(labels, label) !== wanted;
  if (operator !== ">" && operator !== "<") return (labels) => labelOf(labels, label) === wanted;
  if (!isInteger(wanted)) throw notASelector(text, `"${wanted}" is no number to compare with`);
  const limit = BigInt(wanted);
  return (labels) => {
    const found = labelOf(labels, label);
    if (found === undefined || !isInteger(found)) return false;
    return operator === ">" ? BigInt(found) > limit : BigInt(found) < limit;
  };
}

/** Equal to no label value: these have no blanks. */
const absent = " ";

function labelOf(labels: Labels, label: string): string | undefined {
  const found = Object.hasOwn(labels, label) ? labels[label] : undefined;
  return typeof found === "string" ? found : undefined;
}

function isInteger(text: string): boolean {
  return /^-?\d{1,18}$/.test(text);
}

function splitOutsideBrackets(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let isInside = false;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "(") isInside = true;
    else if (text[i] === ")") isInside = false;
    else if (text[i] === "," && !isInside) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...parts, text.slice(start)];
}

function notASelector(text: string, why: string): DatastoreError {
  return new DatastoreError("invalid", `label selector "${text.slice(0, 200)}": ${why}`, {
    next: 'write it as kubectl takes it, for example "app=web,tier in (front,back),!old"',
  });
}
