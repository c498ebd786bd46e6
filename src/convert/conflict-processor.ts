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
  const claims = new Claims(owner);
  return {
    set: (id, revision, value, origin) => {
      const object = objectName(kind, id);
      const read = attempt(() => claim(value, id, origin));
      if (read instanceof FieldError) return unreadable(object, claims.release(id.name), read);
      if (read.converted.is === "absent") return { kvs: claims.release(id.name), problems: [] };
      const { kvs, problems } = toOutput(read.converted, { object, path: read.path, revision });
      const [kv] = kvs; // one value, one key
      return kv === undefined ? { kvs, problems } : { kvs: claims.take(id.name, kv), problems };
    },
    delete: (id) => ({ kvs: claims.release(id.name), problems: [] }),
  };
}

/** Who claims which key, and with what. Both ways of changing it answer what is sent. */
class Claims {
  readonly #compare: (a: string, b: string) => number;
  readonly #byName = new Map<string, ConvertedKv>();
  /** The owner first. */
  readonly #namesByPath = new Map<string, string[]>();

  constructor(owner: ClaimKind["owner"]) {
    this.#compare = owner === "first" ? compareUtf8 : (a, b) => compareUtf8(b, a);
  }

  take(name: string, kv: ConvertedKv): ConvertedKv[] {
    const known = this.#namesByPath.get(kv.path);
    const isOwn = this.#byName.get(name)?.path === kv.path;
    if (isOwn && known?.length === 1) {
      this.#byName.set(name, kv); // nobody else claims it, as nearly always
      return [kv];
    }
    const released = isOwn ? [] : this.release(name);
    this.#byName.set(name, kv);
    const others = (this.#namesByPath.get(kv.path) ?? []).filter((other) => other !== name);
    const names = [...others, name].sort(this.#compare);
    this.#namesByPath.set(kv.path, names);
    return names[0] === name ? [...released, kv] : released;
  }

  release(name: string): ConvertedKv[] {
    const kv = this.#byName.get(name);
    if (kv === undefined) return [];
    this.#byName.delete(name);
    const names = this.#namesByPath.get(kv.path) ?? [];
    const rest = names.filter((other) => other !== name);
    if (rest.length === 0) this.#namesByPath.delete(kv.path);
    else this.#namesByPath.set(kv.path, rest);
    if (names[0] !== name) return [];
    return [this.#byName.get(rest[0] ?? "") ?? deletion(kv.path)];
  }
}
