// The parts of which the selector of a rule's side (rule.ts) and of a whole policy (policy.ts) are put together: selectors of
// namespaces and service accounts, which are printed again in normal form. What else there is stays as written.
import { parseSelector, prefixSelector, printSelector } from "../../model/index.ts";
import type { Warning } from "../processor/processor.ts";

export const namespacePrefix = "pcns.";
export const serviceAccountPrefix = "pcsa.";

type SelectorInput = { readonly text: string; readonly field: string };

/** The selector with its labels prefixed, in normal form. Does not parse: "", as in the original, and a warning. */
export function prefixed({ text, field }: SelectorInput, prefix: string, warnings: Warning[]): string {
  const parsed = parseSelector(text);
  if (parsed.is === "selector") return printSelector(prefixSelector(parsed.selector, prefix));
  const rule = `must be a selector (${parsed.why}); it is left out, so the policy may match more than was meant`;
  warnings.push({ field, rule, effect: "sent-as-original" });
  return "";
}

/** Appends a selector, prefixed, to what there is. */
export function appendPrefixed(current: string, added: SelectorInput, prefix: string, warnings: Warning[]): string {
  if (added.text === "") return current;
  const text = prefixed(added, prefix, warnings);
  if (text === "") return current;
  return current === "" ? text : `(${current}) && ${text}`;
}

/** The original replaces text, even inside string literals; whoever has such a literal should hear of it. */
export function replaceAll(selector: string, replaced: string, by: string, warn: () => void): string {
  if (!selector.includes(replaced)) return selector;
  if (/'[^']*(?:all|global)\(\)[^']*'|"[^"]*(?:all|global)\(\)[^"]*"/.test(selector)) warn();
  return selector.replaceAll(replaced, by);
}

export function literalWarning(field: string): Warning {
  const rule = "all() and global() are replaced even inside quotes; choose another label value";
  return { field, rule, effect: "sent-as-original" };
}

/** Service accounts by selector and by name. */
export function serviceAccountSelector(
  match: { readonly names?: readonly string[] | undefined; readonly selector?: string | undefined },
  field: string,
  warnings: Warning[],
): string {
  const text = match.selector ?? "";
  const bySelector = text === "" ? "" : prefixed({ text, field: `${field}.selector` }, serviceAccountPrefix, warnings);
  if (match.names === undefined || match.names.length === 0) return bySelector;
  const parsed = parseSelector(`projectcalico.org/serviceaccount in { '${match.names.join("', '")}' }`);
  if (parsed.is === "error") {
    const rule = "must be service account names; both names and selector are left out";
    warnings.push({ field: `${field}.names`, rule, effect: "sent-as-original" });
    return "";
  }
  const byName = printSelector(parsed.selector);
  return bySelector === "" ? byName : `(${bySelector}) && (${byName})`;
}
