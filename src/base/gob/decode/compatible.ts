// Which received types a schema can be decoded from. The rules are Go's, one for one; the fuzzer in test/fuzz compares.
import { base, type Node } from "../schema/schema.ts";
import { builtinTypes, typeId, type WireType } from "../schema/wire-types.ts";
import type { TypeKeys } from "./type-keys.ts";

export type Types = ReadonlyMap<number, WireType>;

/** Asks one question; `underWay` remembers what was asked, since types may be recursive. */
export type Question = { types: Types; keys: TypeKeys; underWay: Map<string, number> };

export function isCompatible(node: Node, id: number, question: Question): boolean {
  const key = question.keys.keyOf(node);
  const asked = question.underWay.get(key);
  if (asked !== undefined) return asked === id;
  question.underWay.set(key, id);
  const wire = question.types.get(id);
  const target = base(node);
  const form = target.kind === "opaque" ? target.form : undefined;
  if ((form === "gob") !== (wire !== undefined && wire.GobEncoderT !== null)) return false;
  if ((form === "binary") !== (wire !== undefined && wire.BinaryMarshalerT !== null)) return false;
  if ((form === "text") !== (wire !== undefined && wire.TextMarshalerT !== null)) return false;
  switch (target.kind) {
    case "opaque":
    case "struct":
      return true; // a struct's fields are checked when it is compiled
    case "array": {
      const sent = wire?.ArrayT;
      return sent != null && sent.Len === BigInt(target.length) && isCompatible(target.elem, sent.Elem, question);
    }
    case "map": {
      const sent = wire?.MapT;
      if (sent == null) return false;
      return isCompatible(target.key, sent.Key, question) && isCompatible(target.elem, sent.Elem, question);
    }
    case "slice": {
      const sent = (builtinTypes.get(id) ?? wire)?.SliceT;
      return sent != null && isCompatible(base(target.elem), sent.Elem, question);
    }
    default:
      return id === typeId[target.kind];
  }
}
