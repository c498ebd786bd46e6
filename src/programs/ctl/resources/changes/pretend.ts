// What apply would do to each object, found out by doing it to a datastore that stores nothing.
import { createDryRun } from "../../../../calico/datastore/index.ts";
import { isResourceError, openResources, type Resources, type V3Object } from "../../../../calico/resources/index.ts";
import type { Connection } from "../../connection.ts";
import { perform } from "../running/perform.ts";
import type { Outcome } from "../running/run-all.ts";
import { forEachTarget } from "../running/run-verb.ts";
import { isSameJson } from "../same-json.ts";
import type { Target } from "../targets/targets.ts";
import { writeFirst } from "../write-first.ts";

export type Change =
  | { readonly is: "create"; readonly after: V3Object }
  | { readonly is: "update"; readonly before: V3Object; readonly after: V3Object }
  | { readonly is: "nothing" };

export async function pretendToApply(
  targets: readonly Target[],
  { datastore }: Pick<Connection, "datastore">,
  signal: AbortSignal,
): Promise<readonly Outcome<Change>[]> {
  const pretended = createDryRun(datastore);
  const resources = openResources(pretended);
  await writeFirst(pretended, signal);
  const options = { skipsExisting: false, skipsMissing: false };
  return await forEachTarget("apply", targets, {
    signal,
    doing: async (target, late) => {
      const before = await current(resources, target, late);
      const after = await perform("apply", target, { resources, call: { signal: late }, options });
      return changeOf(before, after);
    },
  });
}

async function current(resources: Resources, { kind, id }: Target, signal: AbortSignal): Promise<V3Object | undefined> {
  if (id.name === "") return undefined;
  try {
    return await resources.get(kind, id, { signal });
  } catch (error) {
    // What else is wrong, the write will say.
    if (isResourceError(error)) return undefined;
    throw error;
  }
}

function changeOf(before: V3Object | undefined, after: V3Object | undefined): Change {
  if (after === undefined) return { is: "nothing" };
  const comparable = comparableOf(after);
  if (before === undefined) return { is: "create", after: comparable };
  const old = comparableOf(before);
  return isSameJson(old, comparable) ? { is: "nothing" } : { is: "update", before: old, after: comparable };
}

/** Without what every write changes, or the datastore makes up. */
function comparableOf(object: V3Object): V3Object {
  const {
    resourceVersion: _,
    uid: __,
    creationTimestamp: ___,
    generation: ____,
    managedFields: _____,
    ...metadata
  } = object.metadata;
  return { ...object, metadata };
}
