// What a converter answers. Deleted, absent and invalid are three things: a value is sent; "absent" means that the object
// has nothing to say under its key (a pod without an address), which is sent as a deletion; "invalid" means that the
// object is broken, which is sent as the original sends it and reported with its field and the rule it breaks.

/** One thing wrong with an object, for the log, the counters and `cattail doctor`. Said once per object and field. */
export type Problem = {
  /** Kind and name as a user would write them: GlobalNetworkPolicy/allow-dns, NetworkPolicy/shop/web. */
  readonly object: string;
  /** Where in the object, as a path: spec.ingress[0].source.nets[1]. "" where it is the object as a whole. */
  readonly field: string;
  /** What is expected there, in words. */
  readonly rule: string;
  /**
   * "deleted": clients see a deletion. "dropped": the part is left out of what is sent. "sent-as-original": the original
   * sends something other than what the user wrote (it may let more through), so this does too.
   */
  readonly effect: "deleted" | "dropped" | "sent-as-original";
};

/** Something the converter met on its way that the user should hear of; the caller adds which object it was. */
export type Warning = Omit<Problem, "object">;

export type Converted<T> =
  | { readonly is: "value"; readonly value: T; readonly warnings?: readonly Warning[] }
  | { readonly is: "absent"; readonly why: string }
  | { readonly is: "invalid"; readonly why: string; readonly field?: string };

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
export const invalid = (why: string, field = ""): Converted<never> => ({ is: "invalid", why, field });

/** A deletion of a key. */
export function deletion(path: string): ConvertedKv {
  return { path, value: undefined, revision: "", v3ResourceVersion: "" };
}
