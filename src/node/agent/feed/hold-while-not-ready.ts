// While ClusterInformation says that the datastore is not ready, because somebody moves it or restores it, nothing of what happens in it is
// meant: a node keeps what it knows. When it is ready again, everything is told anew.
import { passAbort } from "../../../base/lib/index.ts";
import type { DataSet } from "../../part/index.ts";
import type { FeedEvent, FeedSource } from "./feed.ts";

const readyPath = "/calico/v1/Ready";
const why = "the datastore is marked as not ready (datastoreReady of the ClusterInformation default is false)";

type Told = { readonly set: DataSet; readonly events: readonly FeedEvent[] };

export function holdWhileNotReady(source: FeedSource): FeedSource {
  // The source takes for told what was held back here; what it told as gone has to be said later, by us.
  const gone = new Map(source.sets.map((set) => [set, new Set<string>()]));
  return {
    sets: source.sets,
    async *open(signal, asked) {
      while (!signal.aborted) {
        const reopen = new AbortController();
        using _ = passAbort(signal, reopen);
        const held = { isHeld: false };
        let wasReleased = false;
        for await (const { set, events } of source.open(reopen.signal, asked)) {
          const { passed, isReleased } = pass(events, held, gone.get(set) ?? new Set());
          if (passed.length > 0) yield* everywhere(passed, set, source.sets);
          wasReleased = isReleased;
          if (isReleased) break;
        }
        reopen.abort();
        if (!wasReleased) return;
      }
    },
  };
}

/** A hold is every data set's; the rest is of its own. */
function* everywhere(passed: readonly FeedEvent[], set: DataSet, sets: readonly DataSet[]): Generator<Told> {
  yield { set, events: passed };
  const hold = passed.find((event) => event.is === "cut off" && event.why === why);
  if (hold !== undefined) for (const other of sets) if (other !== set) yield { set: other, events: [hold] };
}

function pass(events: readonly FeedEvent[], held: { isHeld: boolean }, gone: Set<string>) {
  const passed: FeedEvent[] = [];
  for (const event of events) {
    const ready = readyOf(event);
    if (ready === true && held.isHeld) return { passed, isReleased: true };
    if (ready === false && !held.isHeld) {
      held.isHeld = true;
      passed.push({ is: "cut off", why });
    }
    if (held.isHeld) {
      if (event.is === "delete") gone.add(event.path);
      continue;
    }
    if (event.is === "set") gone.delete(event.path);
    if (event.is === "in sync") for (const path of gone) passed.push({ is: "delete", path });
    if (event.is === "in sync") gone.clear();
    passed.push(event);
  }
  return { passed, isReleased: false };
}

/** Undefined: it is about something else. A flag that is not there holds nobody up. */
function readyOf(event: FeedEvent): boolean | undefined {
  if ((event.is !== "set" && event.is !== "delete") || event.path !== readyPath) return undefined;
  return event.is === "delete" || event.value !== "false";
}
