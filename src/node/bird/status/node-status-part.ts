// The part that answers CalicoNodeStatus objects: whoever makes one for this node gets its BGP state written into it, now and every so many seconds.
import { isRecord, messageOf } from "../../../base/lib/index.ts";
import { type Datastore, edit, type FollowEvent, follow, type StoredObject } from "../../../calico/datastore/index.ts";
import { calicoNodeStatusSpec, calicoNodeStatusStatus } from "../../../calico/kinds/index.ts";
import { FieldError, readSchema } from "../../../calico/model/index.ts";
import type { Part, PartWorld } from "../../part/index.ts";
import { type BirdSockets, gatherStatus, usualSockets } from "./gather.ts";
import { nodeStatusOf } from "./report.ts";

export type NodeStatusOptions = { readonly sockets?: BirdSockets };

export function nodeStatusPart(options: NodeStatusOptions = {}): Part {
  return { name: "node-status", run: (world, signal) => run(world, options.sockets ?? usualSockets, signal) };
}

type Wanted = { readonly classes: readonly string[]; readonly everySeconds: number; readonly generation: string };
type Reporter = { readonly wanted: Wanted; readonly ends: AbortController; readonly done: Promise<void> };

async function run(world: PartWorld, sockets: BirdSockets, signal: AbortSignal): Promise<void> {
  const { clock, log, node, health } = world;
  const datastore = await world.datastore();
  const reporters = new Map<string, Reporter>();
  const end = (name: string) => {
    reporters.get(name)?.ends.abort();
    reporters.delete(name);
  };
  health.report({ ready: true });
  const hear = (event: FollowEvent) => {
    if (event.is === "status") return;
    const name = event.is === "set" ? event.object.id.name : event.id.name;
    const wanted = event.is === "set" ? wantedOf(event.object, node) : undefined;
    const known = reporters.get(name);
    if (wanted === undefined) return end(name);
    // Our own writes come back as changes of the object.
    if (known !== undefined && JSON.stringify(known.wanted) === JSON.stringify(wanted)) return;
    end(name);
    const ends = new AbortController();
    reporters.set(name, {
      wanted,
      ends,
      done: keepReporting({ world, sockets, datastore, name, wanted, signal: ends.signal }),
    });
  };
  try {
    for await (const events of follow(datastore, "CalicoNodeStatus", { clock, log, signal, random: Math.random })) {
      for (const event of events) hear(event);
    }
  } finally {
    const running = [...reporters.values()].map(({ done }) => done);
    for (const name of [...reporters.keys()]) end(name);
    await Promise.all(running);
  }
}

/** Undefined: it is for another node, or cannot be read. */
function wantedOf({ value }: StoredObject, node: string): Wanted | undefined {
  if (!isRecord(value)) return undefined;
  try {
    const spec = readSchema(calicoNodeStatusSpec, value.spec ?? {}, "spec");
    if (spec.node !== node) return undefined;
    const { generation, uid } = isRecord(value.metadata) ? value.metadata : {};
    return {
      classes: spec.classes ?? [],
      everySeconds: spec.updatePeriodSeconds ?? 10,
      generation: `${uid} ${generation}`,
    };
  } catch (error) {
    if (error instanceof FieldError) return undefined;
    throw error;
  }
}

type Reporting = {
  readonly world: PartWorld;
  readonly sockets: BirdSockets;
  readonly datastore: Datastore;
  readonly name: string;
  readonly wanted: Wanted;
  readonly signal: AbortSignal;
};

const retryMs = 10_000;

/** 0 seconds: once, and again only when the object changes. */
async function keepReporting(reporting: Reporting): Promise<void> {
  const { world, name, wanted, signal } = reporting;
  while (!signal.aborted) {
    let isWritten = true;
    try {
      await reportOnce(reporting);
    } catch (error) {
      if (signal.aborted) return;
      isWritten = false;
      world.log.warn("The status of this node cannot be written", { object: name, error: messageOf(error) });
    }
    if (isWritten && wanted.everySeconds === 0) return;
    await world.clock
      .sleep(wanted.everySeconds === 0 ? retryMs : wanted.everySeconds * 1000, signal)
      .catch(() => undefined); // the loop sees it
  }
}

async function reportOnce({ world, sockets, datastore, name, wanted, signal }: Reporting): Promise<void> {
  const seen = await gatherStatus(sockets, { routes: wanted.classes.includes("Routes"), signal });
  const status = nodeStatusOf(seen, wanted.classes);
  const plain = calicoNodeStatusStatus.go;
  const bare = (value: object) =>
    plain.write({ ...readSchema(calicoNodeStatusStatus, value, "status"), lastUpdated: "" });
  await edit(
    datastore,
    "CalicoNodeStatus",
    { namespace: "", name },
    (current) => {
      const value = current?.value;
      if (!isRecord(value)) return "nothing";
      if (isRecord(value.status) && sameStatus(bare, value.status, status)) return "nothing";
      const lastUpdated = new Date(world.clock.wallMs()).toISOString().replace(/\.\d+Z$/, "Z");
      return { value: { ...value, status: { ...JSON.parse(plain.write({ ...status, lastUpdated })) } } };
    },
    { part: "status", signal, clock: world.clock },
  );
}

function sameStatus(bare: (value: object) => string, before: object, now: object): boolean {
  try {
    return bare(before) === bare(withTimesOf(before, now) as object); // of an object comes an object
  } catch (error) {
    if (error instanceof FieldError) return false; // somebody else wrote something else there
    throw error;
  }
}

const times = ["since", "lastBootTime", "lastReconfigurationTime"];

/** BIRD 2 works its times out anew for each answer, and they move by some milliseconds: that is no change. */
function withTimesOf(before: unknown, now: unknown, name = ""): unknown {
  if (typeof before === "string" && typeof now === "string" && times.includes(name)) {
    return Math.abs(secondsOf(before) - secondsOf(now)) < 1.5 ? before : now;
  }
  if (Array.isArray(now))
    return now.map((each, at) => withTimesOf(Array.isArray(before) ? before[at] : undefined, each));
  if (!isRecord(now)) return now;
  return Object.fromEntries(
    Object.entries(now).map(([field, value]) => [
      field,
      withTimesOf(isRecord(before) ? before[field] : undefined, value, field),
    ]),
  );
}

/** Of the day; NaN, which is near to nothing, where the text has no time of day. */
function secondsOf(text: string): number {
  const [, hours, minutes, seconds] = /(\d\d):(\d\d):(\d\d(?:\.\d+)?)/.exec(text) ?? [];
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}
