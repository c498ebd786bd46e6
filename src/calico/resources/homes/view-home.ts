// What the homes of views share: reading one object after the other, so that one that cannot be read costs only itself.
import type { StoredObject, WatchEvent } from "../../datastore/index.ts";
import { FieldError } from "../../model/index.ts";
import type { ApiKind } from "../api-kinds.ts";
import type { Id } from "../names.ts";
import { resourceErrorOf, unreadable } from "../resource-error.ts";
import type { V3Object } from "../v3-object.ts";
import type { Listed, ResourceEvent, Unreadable } from "./home.ts";

/** Undefined: the stored object is no object of the kind, as a pod on the host's network is no endpoint. */
export type View = (stored: StoredObject) => V3Object | undefined;

export function viewList(stored: readonly StoredObject[], view: View): Omit<Listed, "revision"> {
  const items: V3Object[] = [];
  const bad: Unreadable[] = [];
  for (const each of stored) {
    const read = tryView(each, view);
    if (read === undefined) continue;
    if ("problem" in read) bad.push({ id: each.id, problem: read.problem });
    else items.push(read.object);
  }
  return { items, unreadable: bad };
}

export async function* viewEvents(
  events: AsyncIterable<readonly WatchEvent[]>,
  { kind, view, nameOf }: { kind: ApiKind; view: View; nameOf: (id: Id) => Id | undefined },
): AsyncGenerator<ResourceEvent[]> {
  try {
    for await (const batch of events) {
      const said = batch.flatMap((event): ResourceEvent[] => {
        if (event.is === "bookmark") return [{ is: "bookmark", revision: event.revision }];
        if (event.is === "delete") {
          const id = nameOf(event.id);
          return id === undefined ? [] : [{ is: "delete", id }];
        }
        const read = tryView(event.object, view);
        if (read === undefined) return [];
        if ("problem" in read) return [{ is: "unreadable", id: event.object.id, problem: read.problem }];
        return [{ is: "set", object: read.object }];
      });
      if (said.length > 0) yield said;
    }
  } catch (error) {
    throw resourceErrorOf(error, { kind, id: { namespace: "", name: "*" } });
  }
}

function tryView(stored: StoredObject, view: View): { object: V3Object } | { problem: string } | undefined {
  if (stored.problem !== undefined) return { problem: stored.problem };
  try {
    const object = view(stored);
    return object === undefined ? undefined : { object };
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    return { problem: error.message };
  }
}

/** What the datastore throws, and what cannot be read, said of the object that was asked for. */
export async function translated<T>(kind: ApiKind, id: Id, ask: () => Promise<T>, why = ""): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof FieldError) throw unreadable(kind, id, error.message, error);
    throw resourceErrorOf(error, { kind, id, ...(why === "" ? {} : { why: { notFound: why } }) });
  }
}
