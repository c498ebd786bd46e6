// Kinds of which several objects may claim one key (two pools with one CIDR). One of the names owns the key; when it goes,
// the next takes over. State: what each name last said.
//
//   names sorted:   a ── pool/10.0/16  (owner: sent)          a deleted:  b's value is sent under the same key
//                   b ── pool/10.0/16  (remembered, not sent)
import type { Kind } from "../../kinds/index.ts";
import { compareUtf8, FieldError, type Schema } from "../../model/index.ts";
import { type Resource, readResource } from "../object/resource.ts";
import { toOutput, unreadable } from "./keyed-processor.ts";
import {
  attempt,
  type Converted,
  type ConvertedKv,
  deletion,
  type Origin,
  objectName,
  type Processor,
  type ProcessorId,
} from "./processor.ts";

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
  readonly #ownerByPath = new Map<string, string>();
  /** In the order in which they will own it. Hardly any key has some. */
  readonly #waitingByPath = new Map<string, string[]>();

  constructor(owner: ClaimKind["owner"]) {
    this.#compare = owner === "first" ? compareUtf8 : (a, b) => compareUtf8(b, a);
  }

  take(name: string, kv: ConvertedKv): ConvertedKv[] {
    const released = this.#byName.get(name)?.path === kv.path ? [] : this.release(name);
    this.#byName.set(name, kv);
    const owner = this.#ownerByPath.get(kv.path) ?? name;
    const isOwner = this.#compare(name, owner) <= 0;
    if (owner !== name) this.#wait(kv.path, isOwner ? owner : name);
    if (!isOwner) return released;
    this.#ownerByPath.set(kv.path, name);
    return [...released, kv];
  }

  release(name: string): ConvertedKv[] {
    const kv = this.#byName.get(name);
    if (kv === undefined) return [];
    this.#byName.delete(name);
    const isOwner = this.#ownerByPath.get(kv.path) === name;
    const next = isOwner ? this.#waitingByPath.get(kv.path)?.[0] : undefined;
    this.#waitNoMore(kv.path, next ?? name);
    if (!isOwner) return [];
    const heir = next === undefined ? undefined : this.#byName.get(next);
    if (next === undefined || heir === undefined) {
      this.#ownerByPath.delete(kv.path);
      return [deletion(kv.path)];
    }
    this.#ownerByPath.set(kv.path, next);
    return [heir];
  }

  #wait(path: string, name: string): void {
    const waiting = new Set(this.#waitingByPath.get(path)).add(name);
    this.#waitingByPath.set(path, [...waiting].sort(this.#compare));
  }

  #waitNoMore(path: string, name: string): void {
    const waiting = this.#waitingByPath.get(path);
    if (waiting === undefined) return;
    const rest = waiting.filter((other) => other !== name);
    if (rest.length === 0) this.#waitingByPath.delete(path);
    else this.#waitingByPath.set(path, rest);
  }
}
