// Looks, after an object was not found, whether there is one of nearly that name. One list more, and only then.
import { isResourceError, type Resources } from "../../../../calico/resources/index.ts";
import { nameOf, type Target } from "../targets/targets.ts";
import { nearName } from "./near-names.ts";

/** "Did you mean IPPool(default-ipv4)?" Undefined: there is nothing to suggest. */
export async function suggestionFor(
  error: unknown,
  target: Target,
  context: { readonly resources: Resources; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { kind, id } = target;
  if (!isResourceError(error, "not-found") || id.name === "") return undefined;
  const { resources, signal } = context;
  try {
    const within = id.namespace === "" ? {} : { within: { namespace: id.namespace } };
    const { items } = await resources.list(kind, { signal, ...within });
    const near = nearName(
      id.name,
      items.map(({ metadata }) => metadata.name ?? ""),
    );
    return near === undefined ? undefined : `Did you mean ${nameOf({ kind, id: { ...id, name: near } })}?`;
  } catch {
    return undefined; // what was asked for has its answer; this one was only meant to help
  }
}
