// What get has found: one result for each name or document that was asked for and is there; all objects of a kind are one.
import type { ApiKind, V3Object } from "../../../calico/resources/index.ts";

export type Result =
  | { readonly is: "object"; readonly object: V3Object }
  | {
      readonly is: "list";
      readonly kind: ApiKind;
      readonly items: readonly V3Object[];
      readonly resourceVersion: string;
    };

export function kindOf(result: Result): ApiKind {
  return result.is === "list" ? result.kind : result.object.kind;
}

export function objectsOf(result: Result): readonly V3Object[] {
  return result.is === "list" ? result.items : [result.object];
}
