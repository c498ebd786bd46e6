// What the cases of the contract share: a case, a few objects, and questions to a datastore.
import type { Reader, Revision, StoredObject, WatchEvent, Within } from "../../src/calico/datastore/index.ts";
import type { Kind } from "../../src/calico/kinds/index.ts";
import type { Opened, Subject, TestObject } from "./datastore-contract-subjects.ts";

export const signal = AbortSignal.timeout(600_000);
export const tier = (name: string, order = 1): TestObject => ({ metadata: { name }, spec: { order } });
export const set = (name: string, namespace = "default"): TestObject => ({
  metadata: { name, namespace },
  spec: { nets: [] },
});
export const idOf = (name: string, namespace = "") => ({ namespace, name });

export type Case = {
  readonly name: string;
  readonly needs?: "writes" | "history";
  /** Why a datastore is left out, by its name. */
  readonly except?: { readonly [subject: string]: string };
  run(opened: Opened, subject: Subject): Promise<void>;
};

export async function itemsOf(datastore: Reader, kind: Kind, within: Within = {}): Promise<StoredObject[]> {
  return (await Array.fromAsync(datastore.list(kind, { signal, within }))).flatMap(({ items }) => items);
}

export async function revisionOf(datastore: Reader, kind: Kind): Promise<Revision> {
  const pages = await Array.fromAsync(datastore.list(kind, { signal }));
  return pages.at(-1)?.revision ?? ("" as Revision);
}

export async function take(
  datastore: Reader,
  kind: Kind,
  from: Revision,
  count: number,
  within: Within = {},
): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  for await (const together of datastore.watch(kind, { from, signal, within })) {
    events.push(...together.filter((event) => event.is !== "bookmark"));
    if (events.length >= count) break;
  }
  return events.slice(0, count);
}

export function revisionAfter(event: WatchEvent): Revision {
  return event.is === "set" ? event.object.revision : event.revision;
}

export function idText({ id }: { id: { namespace: string; name: string } }): string {
  return `${id.namespace}/${id.name}`;
}

export function eventText(event: WatchEvent): string {
  if (event.is === "bookmark") return "bookmark";
  return `${event.is} ${idText(event.is === "set" ? event.object : event)}`;
}

export function orderOf(event: WatchEvent): unknown {
  return event.is === "set" ? Object(specOf(event.object)).order : undefined;
}

export function specOf(object: StoredObject | undefined): unknown {
  return Object(object?.value).spec;
}

export function metaOf(object: StoredObject | undefined, field: string): unknown {
  return Object(Object(object?.value).metadata)[field];
}
