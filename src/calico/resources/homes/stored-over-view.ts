// Kinds that a folder holds both ways: as objects of their own, and as views of Kubernetes' objects that the folder may hold, too
// (WorkloadEndpoint beside Pod, Profile beside Namespace and ServiceAccount). Of one name the stored object wins; views are seen where there is
// none. New objects are stored; a view is changed only in the ways in which Kubernetes' is. calico/syncer follows the same rule for a Typha.
import { compareUtf8 } from "../../model/index.ts";
import type { Id } from "../names.ts";
import { isResourceError } from "../resource-error.ts";
import type { Call, Home, ListCall, Listed, ResourceEvent, WatchCall } from "./home.ts";
import { idOf } from "./object-home.ts";

export function storedOverView({ stored, view }: { stored: Home; view: Home }): Home {
  const find = async (home: Home, id: Id, call: Call) => {
    try {
      return await home.get(id, call);
    } catch (error) {
      if (isResourceError(error, "not-found")) return undefined;
      throw error;
    }
  };
  /** Whether there is a stored one, readable or not. */
  const isStored = async (id: Id, call: Call) => {
    try {
      return (await find(stored, id, call)) !== undefined;
    } catch (error) {
      if (isResourceError(error, "unreadable")) return true;
      throw error;
    }
  };
  /** Of an object that is there already: whichever of the two has it. */
  const ownerOf = async (id: Id, call: Call): Promise<Home> => {
    if (await isStored(id, call)) return stored;
    return (await find(view, id, call)) === undefined ? stored : view;
  };

  /** What an event of one half means to somebody who sees both. */
  const seen = async (from: Home, event: ResourceEvent, call: Call): Promise<ResourceEvent[]> => {
    if (event.is === "bookmark") return [event];
    const id = event.is === "set" ? idOf(event.object) : event.id;
    if (from === view) return (await isStored(id, call)) ? [] : [event];
    const behind = event.is === "delete" ? await find(view, id, call) : undefined;
    return [behind === undefined ? event : { is: "set", object: behind }];
  };

  return {
    get: async (id, call) => (await find(stored, id, call)) ?? (await view.get(id, call)),
    list: async (call) => merge(await stored.list(call), await view.list(call)),
    watch: (call) => watchBoth({ stored, view }, call, seen),
    create: (object, call) => stored.create(object, call),
    update: async (object, call) => await (await ownerOf(idOf(object), call)).update(object, call),
    updateStatus: async (object, call) => await (await ownerOf(idOf(object), call)).updateStatus(object, call),
    edit: async (id, change, call) => await (await ownerOf(id, call)).edit(id, change, call),
    delete: async (id, call) => await (await ownerOf(id, call)).delete(id, call),
  };
}

const keyOf = ({ namespace, name }: Id) => `${namespace}/${name}`;

function merge(stored: Listed, view: Listed): Listed {
  const known = new Set([...stored.items.map(idOf), ...stored.unreadable.map(({ id }) => id)].map(keyOf));
  const isBehind = (id: Id) => known.has(keyOf(id));
  const items = [...view.items.filter((object) => !isBehind(idOf(object))), ...stored.items];
  return {
    items: items.sort((a, b) => compareUtf8(keyOf(idOf(a)), keyOf(idOf(b)))),
    unreadable: [...stored.unreadable, ...view.unreadable.filter(({ id }) => !isBehind(id))],
    revision: `${stored.revision}+${view.revision}`,
  };
}

type Half = "stored" | "view";
type See = (from: Home, event: ResourceEvent, call: Call) => Promise<ResourceEvent[]>;

/** Both at once; the revision is the pair that a list gives. A watch ends when either half does: a list then says what is there. */
async function* watchBoth(
  homes: { readonly [half in Half]: Home },
  { from, signal, within }: WatchCall,
  seen: See,
): AsyncGenerator<ResourceEvent[]> {
  const [storedFrom = "", viewFrom = ""] = from.split("+");
  const at: Record<Half, string> = { stored: storedFrom, view: viewFrom };
  const ending = new AbortController();
  const both = AbortSignal.any([signal, ending.signal]);
  const narrowing: Pick<ListCall, "within"> = within === undefined ? {} : { within };
  const next = (half: Half, events: AsyncIterator<readonly ResourceEvent[]>) =>
    events.next().then((result) => ({ half, events, result }));
  const open = (half: Half) =>
    next(half, homes[half].watch({ from: at[half], signal: both, ...narrowing })[Symbol.asyncIterator]());
  const waiting = new Map([
    ["stored", open("stored")],
    ["view", open("view")],
  ]);
  try {
    for (;;) {
      const { half, events, result } = await Promise.race(waiting.values());
      if (result.done) return;
      const said: ResourceEvent[] = [];
      for (const event of result.value) {
        if (event.is === "bookmark") at[half] = event.revision;
        for (const each of await seen(homes[half], event, { signal: both })) {
          said.push(each.is === "bookmark" ? { is: "bookmark", revision: `${at.stored}+${at.view}` } : each);
        }
      }
      if (said.length > 0) yield said;
      waiting.set(half, next(half, events));
    }
  } finally {
    ending.abort();
    await Promise.allSettled(waiting.values());
  }
}
