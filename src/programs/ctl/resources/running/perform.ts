// What a verb does to one object.
import {
  type Call,
  forCreate,
  isResourceError,
  ResourceError,
  type Resources,
  refusedByCtl,
  type V3Object,
} from "../../../../calico/resources/index.ts";
import type { Target } from "../targets/targets.ts";

export type WritingVerb = "create" | "apply" | "replace" | "delete";

export type VerbOptions = {
  /** --skip-exists: what is there counts as created. */
  readonly skipsExisting: boolean;
  /** --skip-not-exists: what is not there counts as deleted. */
  readonly skipsMissing: boolean;
  /**
   * Whatever version is stored is deleted. On Kubernetes the original compares versions of pools only, because it writes
   * them first: a file that `get -o yaml` made deletes the object although it was changed since.
   */
  readonly deletesAnyVersion?: boolean;
};

/** Throws ResourceError. What was deleted, or passed over, is undefined. */
export async function perform(
  verb: WritingVerb,
  { kind, id, object, refusal }: Target,
  context: { readonly resources: Resources; readonly call: Call; readonly options: VerbOptions },
): Promise<V3Object | undefined> {
  const { resources, call, options } = context;
  if (refusal !== undefined) throw refusal;
  const refused = refusedByCtl(verb, kind, id);
  if (refused !== undefined) {
    // The original looks first whether there is such a policy.
    if (verb !== "create" && verb !== "delete" && kind === "NetworkPolicy") await resources.get(kind, id, call);
    throw refused;
  }
  try {
    switch (verb) {
      case "create":
        return await resources.create(kind, asGiven(object), call);
      case "apply":
        return await resources.apply(kind, object, call);
      case "replace":
        return await resources.replace(kind, object, call);
      case "delete":
        return await deleteOne(
          resources,
          { kind, id, object },
          { ...call, isAnyVersion: options.deletesAnyVersion ?? false },
        );
    }
  } catch (error) {
    if (verb === "create" && options.skipsExisting && isResourceError(error, "exists")) return undefined;
    if (verb === "delete" && options.skipsMissing && isResourceError(error, "not-found")) return undefined;
    throw await withVersions(error, { kind, id, object }, { resources, call });
  }
}

/** A resourceVersion stays, so that it is refused: whoever creates an object cannot know one. */
function asGiven(object: V3Object): V3Object {
  const { resourceVersion } = object.metadata;
  const fresh = forCreate(object);
  return resourceVersion === undefined ? fresh : { ...fresh, metadata: { ...fresh.metadata, resourceVersion } };
}

async function deleteOne(
  resources: Resources,
  { kind, id, object }: Pick<Target, "kind" | "id" | "object">,
  { isAnyVersion, ...call }: Call & { readonly isAnyVersion: boolean },
): Promise<undefined> {
  const { resourceVersion } = object.metadata;
  const isAny = isAnyVersion && kind !== "IPPool";
  const version = isAny || resourceVersion === undefined ? {} : { resourceVersion };
  await resources.delete(kind, id, { ...call, ...version });
  return undefined;
}

/** The original says no more than the name. Where the datastore found the conflict, what is stored is asked for. */
export async function withVersions(
  error: unknown,
  { kind, id, object }: Pick<Target, "kind" | "id" | "object">,
  { resources, call }: { readonly resources: Resources; readonly call: Call },
): Promise<unknown> {
  const { resourceVersion: given } = object.metadata;
  if (given === undefined || !isResourceError(error, "conflict") || error.message.includes("resourceVersion"))
    return error;
  try {
    const { resourceVersion: stored = "" } = (await resources.get(kind, id, call)).metadata;
    const { message, next } = error;
    return new ResourceError("conflict", `${message}: resourceVersion ${given} was given, ${stored} is stored`, {
      cause: error,
      ...(next === undefined ? {} : { next }),
    });
  } catch {
    return error; // it is gone meanwhile, or cannot be asked for: the conflict is what counts
  }
}
