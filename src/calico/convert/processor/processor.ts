// How a syncer feeds objects of one kind through conversion, and what comes of it. One processor per kind and syncer; it
// keeps no more state than its rules need (which of two pools owns a CIDR, which settings came from annotations) and none
// at all for most.
//
// Deleted, absent and invalid are three things: a value is sent; "absent" means that the object has nothing to say under
// its key (a pod without an address), which is sent as a deletion; "invalid" means that the object is broken, which is
// sent as the original sends it and reported with its field and the rule it breaks.
import { FieldError } from "../../model/index.ts";

export type ProcessorId = { readonly namespace: string; readonly name: string };

export type ProcessorOutput = {
  /** In the order in which they are sent. */
  readonly kvs: readonly ConvertedKv[];
  readonly problems: readonly ConversionProblem[];
};

/** Where the syncer has an object from. Only block affinities care: the original hides deleted ones from its lists. */
export type Origin = "list" | "watch";

export type Processor = {
  /** The object as it is stored now, in parsed JSON that nobody has checked. Never throws. */
  set(id: ProcessorId, revision: string, value: unknown, origin?: Origin): ProcessorOutput;
  delete(id: ProcessorId): ProcessorOutput;
};

export const nothing: ProcessorOutput = { kvs: [], problems: [] };

/** How a user would name the object. */
export function objectName(kind: string, id: ProcessorId): string {
  return id.namespace === "" ? `${kind}/${id.name}` : `${kind}/${id.namespace}/${id.name}`;
}

/** Where in an object something is wrong, and what is expected there. A FieldError is one, too. */
export type FieldProblem = {
  /** As a path: spec.ingress[0].source.nets[1]. "" where it is the object as a whole. */
  readonly field: string;
  /** In words. */
  readonly rule: string;
};

/** Something the converter met on its way that the user should hear of; the caller adds which object it was. */
export type Warning = FieldProblem & {
  /**
   * "deleted": clients see a deletion. "dropped": the part is left out of what is sent. "sent-as-original": the original
   * sends something other than what the user wrote (it may let more through), so this does too.
   */
  readonly effect: "deleted" | "dropped" | "sent-as-original";
};

/** One thing wrong with an object, for the log, the counters and `cattail doctor`. Said once per object and field. */
export type ConversionProblem = Warning & {
  /** Kind and name as a user would write them: GlobalNetworkPolicy/allow-dns, NetworkPolicy/shop/web. */
  readonly object: string;
};

/** What a converter answers. */
export type Converted<T> = { readonly warnings?: readonly Warning[] } & (
  | {
      readonly is: "value";
      readonly value: T;
      /** metadata.resourceVersion where the value is an API object. */
      readonly v3ResourceVersion?: string;
    }
  | { readonly is: "absent"; readonly why: string }
  | { readonly is: "invalid"; readonly problem: FieldProblem }
);

/** One key/value as it goes to the clients. */
export type ConvertedKv = {
  /** The key's default path. */
  readonly path: string;
  /** Undefined: delete this key; or, where `isInvalid` is set, an invalid value, which keeps its revision. */
  readonly value: string | undefined;
  /** "" for a deletion. */
  readonly revision: string;
  /** metadata.resourceVersion where the value is an API object, else "". */
  readonly v3ResourceVersion: string;
  /** The object was there but broke a validation rule: clients get no value, but type new or updated, and the revision. */
  readonly isInvalid?: boolean;
};

export const absent = (why: string): Converted<never> => ({ is: "absent", why });
export const invalid = (problem: FieldProblem): Converted<never> => ({ is: "invalid", problem });

/** A deletion of a key. */
export function deletion(path: string): ConvertedKv {
  return { path, value: undefined, revision: "", v3ResourceVersion: "" };
}

/** What stands for a value that breaks a validation rule. */
export function invalidKv(path: string, revision: string): ConvertedKv {
  return { path, value: undefined, revision, v3ResourceVersion: "", isInvalid: true };
}

/** What the validation filter refused, as a warning: clients see no value. */
export function refused({ field, rule }: FieldProblem): Warning {
  return { field, rule, effect: "deleted" };
}

/** The one place where a FieldError, thrown by a reader deep inside an object, becomes a value again. */
export function attempt<T>(convert: () => T): T | FieldError {
  try {
    return convert();
  } catch (error) {
    if (error instanceof FieldError) return error;
    throw error;
  }
}
