// What a missing right means, and how to grant it. A kind that carries enforcement keeps the server unready until it can
// be read; one that does not is empty, or stays as it was last read, is warned about once, and shown. The table is in
// src/calico/kinds; docs/reference/kinds.md is made from it.
import { type Kind, kindInfo } from "../kinds/index.ts";

export type WhenForbidden = "not ready" | "empty";

export function whenForbidden(kind: Kind): WhenForbidden {
  return kindInfo(kind).carries === "enforcement" ? "not ready" : "empty";
}

export const readVerbs = ["get", "list", "watch"] as const;

/** One rule of a ClusterRole, ready to paste below its `rules:`. */
export function ruleYaml(group: string, plural: string, verbs: readonly string[] = readVerbs): string {
  const quoted = (...words: readonly string[]) => `[${words.map((word) => JSON.stringify(word)).join(", ")}]`;
  return `- apiGroups: ${quoted(group)}\n  resources: ${quoted(plural)}\n  verbs: ${quoted(...verbs)}\n`;
}
