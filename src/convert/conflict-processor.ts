// Kinds of which several objects may claim one key (two pools with one CIDR). One of the names owns the key; when it goes,
// the next takes over. State: what each name last said.
//
//   names sorted:   a ── pool/10.0/16  (owner: sent)          a deleted:  b's value is sent under the same key
//                   b ── pool/10.0/16  (remembered, not sent)
import { compareUtf8, FieldError, type Kind, type Schema } from "../model/index.ts";
import { attempt } from "./attempt.ts";
import { type Converted, type ConvertedKv, deletion } from "./converted.ts";
import { toOutput, unreadable } from "./keyed-processor.ts";
import { type Origin, objectName, type Processor, type ProcessorId } from "./processor.ts";
import { type Resource, readResource } from "./resource.ts";

export type Claim = { readonly path: string; readonly converted: Converted<string> };

type ConflictKind<S> = {
  readonly kind: Kind;
  readonly schema: Schema<S>;
  /** Throws FieldError where the object has no key. */
  convert(resource: Resource<S>, id: ProcessorId, origin: Origin | undefined): Claim;
  /** "first": the smallest name in byte order, as the original decides. "last": whoever a fresh list would say last. */
  readonly owner: "first" | "last";
};

export function createConflictProcessor<S>(conflict: ConflictKind<S>): Processor {
  return createClaimProcessor({
    kind: conflict.kind,
    owner: conflict.owner,
    claim: (value, id, origin) => conflict.convert(readResource(conflict.kind, conflict.schema, value), id, origin),
  });
}

type ClaimKind = {
  readonly kind: Kind;
  readonly owner: "first" | "last";
  /** Throws FieldError for an object that cannot be read or has no key. */
  claim(value: unknown, id: ProcessorId, origin: Origin | undefined): Claim;
};

export function createClaimProcessor({ kind, owner, claim }: ClaimKind): Processor {
  const byName = new Map<string, ConvertedKv>();
  const namesByPath = new Map<string, string[]>();

  /** What is sent when a name lets go of its key. */
  const release = (name: string): ConvertedKv[] => {
    const kv = byName.get(name);
    if (kv === undefined) return [];
    byName.delete(name);
    const names = namesByPath.get(kv.path) ?? [];
    const wasOwner = names[0] === name;
    const rest = names.filter((other) => other !== name);
    if (rest.length === 0) namesByPath.delete(kv.path);
    else namesByPath.set(kv.path, rest);
    const next = byName.get(rest[0] ?? "");
    return wasOwner ? [next ?? deletion(kv.path)] : [];
  };

  const take = (name: string, kv: ConvertedKv): ConvertedKv[] => {
    const released = byName.get(name)?.path === kv.path ? [] : release(name);
    byName.set(name, kv);
    const names = namesByPath.get(kv.path) ?? [];
    if (!names.includes(name)) {
      names.push(name);
      names.sort(owner === "first" ? compareUtf8 : (a, b) => compareUtf8(b, a));
      namesByPath.set(kv.path, names);
    }
    return names[0] === name ? [...released, kv] : released;
  };

  return {
    set: (id, revision, value, origin) => {
      const object = objectName(kind, id);
      const read = attempt(() => claim(value, id, origin));
      if (read instanceof FieldError) return unreadable(object, release(id.name), read);
      if (read.converted.is === "absent") return { kvs: release(id.name), problems: [] };
      const { kvs, problems } = toOutput(read.converted, { object, path: read.path, revision });
      const [kv] = kvs;
      return { kvs: kv === undefined ? [] : take(id.name, kv), problems };
    },
    delete: (id) => ({ kvs: release(id.name), problems: [] }),
  };
}
