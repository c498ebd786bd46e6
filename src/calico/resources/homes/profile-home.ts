// Calico's profiles where Kubernetes has namespaces and service accounts: a view of these, read only. First the profile that
// is always there, then namespaces, then accounts, as the original lists them.
import type { Datastore, WatchEvent, Within } from "../../datastore/index.ts";
import { defaultAllow, defaultAllowProfile, fromSource, sourceOf } from "../forms/profile-view.ts";
import { type Id, nameInMessages } from "../names.ts";
import { notFound, ResourceError, unsupported } from "../resource-error.ts";
import type { V3Object } from "../v3-object.ts";
import { requireName } from "../written-metadata.ts";
import {
  asRevision,
  type Call,
  type Home,
  type ListCall,
  type Listed,
  type ResourceEvent,
  type WatchCall,
} from "./home.ts";
import { gather, idOf } from "./object-home.ts";
import { translated, viewEvents, viewList } from "./view-home.ts";

const kind = "Profile";
const sourceKinds = ["Namespace", "ServiceAccount"] as const;
type SourceKind = (typeof sourceKinds)[number];

export function createProfileHome(datastore: Datastore): Home {
  const refuse = (operation: string) => async (what: V3Object | Id) => {
    const id = "metadata" in what ? idOf(what) : what;
    throw unsupported(operation, nameInMessages(kind, id), undefined, ofNamespaces);
  };
  return {
    get: (id, call) => get(datastore, id, call),
    list: (call) => list(datastore, call),
    watch: (call) => watch(datastore, call),
    create: refuse("Create"),
    update: refuse("Update"),
    updateStatus: refuse("Update"),
    edit: async (id, change, call) => {
      // A name that cannot be, or is not there, is said first, as the original does; then what the rules say.
      await change(await get(datastore, id, call));
      return await refuse("Update")(id);
    },
    delete: refuse("Delete"),
  };
}

const ofNamespaces = "profiles follow from namespaces and service accounts: change the labels of these";

function misnamed({ name }: Id): ResourceError {
  const isAccount = name.startsWith("ksa.");
  const text = isAccount ? `Profile ${name} is not formatted correctly` : `Invalid name ${name}`;
  return new ResourceError("not-found", text, { next: ofNamespaces });
}

async function get(datastore: Datastore, id: Id, { signal }: Call): Promise<V3Object> {
  if (id.name === defaultAllowProfile) return defaultAllow;
  const source = sourceOf(id.name);
  if (source === undefined) throw misnamed(id);
  requireName(source.id);
  const stored = await translated(kind, id, () => datastore.get(source.kind, source.id, { signal }));
  const plural = source.kind === "Namespace" ? "namespaces" : "serviceaccounts";
  if (stored === undefined) throw notFound(kind, id, `${plural} "${source.id.name}" not found`);
  return await translated(kind, id, async () => fromSource(source.kind, stored));
}

async function list(datastore: Datastore, call: ListCall): Promise<Listed> {
  const { signal = new AbortController().signal } = call;
  const parts = await Promise.all(
    sourceKinds.map(async (from) => {
      const pages = datastore.list(from, { signal });
      const { stored, revision } = await translated(kind, { namespace: "", name: "*" }, () => gather(pages));
      return { ...viewList(stored, (each) => fromSource(from, each)), revision };
    }),
  );
  const all = [defaultAllow, ...parts.flatMap(({ items }) => items)];
  return {
    items: all.filter(({ metadata }) => isWithin(metadata.name ?? "", call.within)),
    unreadable: parts.flatMap(({ unreadable }) => unreadable),
    revision: parts.map(({ revision }) => revision).join("/"),
  };
}

/** Profiles have no labels of their own and no namespaces. */
function isWithin(name: string, { namePrefix = "" }: Within = {}): boolean {
  return name.startsWith(namePrefix);
}

/** Both kinds at once; the revision is the pair that a list gives. */
async function* watch(datastore: Datastore, { from, signal, within }: WatchCall): AsyncGenerator<ResourceEvent[]> {
  const [namespaces = "", accounts = ""] = from.split("/");
  const at: Record<SourceKind, string> = { Namespace: namespaces, ServiceAccount: accounts };
  const ending = new AbortController();
  const both = AbortSignal.any([signal, ending.signal]);
  const streams = sourceKinds.map((source) => {
    const events = datastore.watch(source, { from: asRevision(at[source]), signal: both });
    const stream = viewEvents(noted(events, source, at), {
      kind,
      view: (stored) => fromSource(source, stored),
      nameOf: (id) => ({ namespace: "", name: profileName(source, id) }),
    });
    return stream[Symbol.asyncIterator]();
  });
  const waiting = new Map(streams.map((stream) => [stream, stream.next().then((result) => ({ stream, result }))]));
  try {
    // A watch ends when either half does: a list then says what is there.
    for (;;) {
      const { stream, result } = await Promise.race(waiting.values());
      if (result.done) return;
      waiting.set(
        stream,
        stream.next().then((next) => ({ stream, result: next })),
      );
      const said = result.value.map((event): ResourceEvent => {
        return event.is === "bookmark" ? { is: "bookmark", revision: `${at.Namespace}/${at.ServiceAccount}` } : event;
      });
      yield said.filter((event) => isWithin(nameOfEvent(event) ?? within?.namePrefix ?? "", within));
    }
  } finally {
    ending.abort();
    await Promise.allSettled(waiting.values());
  }
}

function nameOfEvent(event: ResourceEvent): string | undefined {
  if (event.is === "set") return event.object.metadata.name;
  return event.is === "delete" ? event.id.name : undefined;
}

function profileName(source: SourceKind, { namespace, name }: Id): string {
  return source === "Namespace" ? `kns.${name}` : `ksa.${namespace}.${name}`;
}

/** Keeps in `at` how far the stream has come. */
async function* noted(
  events: AsyncIterable<readonly WatchEvent[]>,
  source: SourceKind,
  at: Record<SourceKind, string>,
): AsyncGenerator<readonly WatchEvent[]> {
  for await (const batch of events) {
    const last = batch.at(-1);
    if (last !== undefined) at[source] = last.is === "set" ? last.object.revision : last.revision;
    yield batch;
  }
}
