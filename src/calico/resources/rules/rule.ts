// Rules about v3 objects that a schema cannot say, because they are about other objects, or about what is stored already.
// One file for each subject; rules.ts has the table. The texts are the original's.
import type { Problem } from "../../kinds/index.ts";
import type { ApiKind } from "../api-kinds.ts";
import type { Call } from "../homes/home.ts";
import type { Id } from "../names.ts";
import type { V3Object } from "../v3-object.ts";

/** What a rule may ask. Reads fill defaults in; nothing here checks a rule again. */
export type Neighbours = {
  get(kind: ApiKind, id: Id): Promise<V3Object>;
  list(kind: ApiKind): Promise<readonly V3Object[]>;
  /** Writes an object that a deletion needs changed first. */
  update(object: V3Object): Promise<V3Object>;
  edit(
    kind: ApiKind,
    id: Id,
    change: (current: V3Object | undefined) => V3Object | "nothing" | "delete",
  ): Promise<void>;
  delete(kind: ApiKind, id: Id): Promise<void>;
  sleep(ms: number): Promise<void>;
};

export type WriteContext = {
  readonly neighbours: Neighbours;
  /** The object is about to be created. */
  readonly isNew: boolean;
};

export type DeleteContext = Call & {
  readonly neighbours: Neighbours;
  readonly ipam: IpamSteps;
  /** The resourceVersion that the object must still have. */
  readonly revision: string | undefined;
};

/** What IPAM does when a pool or a node goes; given from above, because addresses are its business. */
export type IpamSteps = {
  /** Gives the addresses back. Not given: they stay allocated until somebody releases them. */
  releaseAddresses?(addresses: readonly string[], call: Call): Promise<void>;
  /** Takes the claims on all blocks of a pool back. Not given: release-affinities.ts does. */
  releasePool?(cidr: string, call: Call): Promise<void>;
  /** The same for a node. */
  releaseNode?(node: string, call: Call): Promise<void>;
};

export type Rules = {
  /** First of all: fills in what follows from elsewhere, and throws ResourceError for what cannot be. */
  prepare?(object: V3Object, context: WriteContext): V3Object | Promise<V3Object>;
  /** What other objects have against it; told together with what the kind refuses before it looks at fields. */
  problems?(object: V3Object, context: WriteContext): Promise<readonly Problem[]>;
  /** The kind has rules about what must not change, so that the stored object is read before it is written. */
  readonly comparesWithStored?: true;
  /** After the fields are checked. */
  check?(object: V3Object, context: WriteContext): void | Promise<void>;
  /** What has to happen first. Answers the revision at which the object itself is then deleted. */
  beforeDelete?(id: Id, context: DeleteContext): Promise<string | undefined>;
  /** What reading fills in. */
  read?(object: V3Object): V3Object;
  /** The order of a list, where it is not that of names. */
  compare?(a: V3Object, b: V3Object): number;
};
