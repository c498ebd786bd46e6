// The data sets from Typhas: a connection for each, which goes on with another server when one goes away.
import { type Clock, type Log, Pace } from "../../../base/lib/index.ts";
import { ModernPolicies, syncStatus } from "../../../calico/model/basics.ts";
import type { FollowOptions, Update } from "../../../typha/client/index.ts";
import { KnownKeys } from "../../../typha/client/parts.ts";
import type { DataSet } from "../../part/index.ts";
import { type FeedEvent, type FeedSource, pace } from "./feed.ts";

export type TyphaSourceOptions = {
  readonly set: DataSet;
  readonly follow: Pick<FollowOptions, "servers" | "tls" | "readTimeoutMs" | "writeTimeoutMs">;
  readonly node: string;
  readonly version: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
};

export function typhaSource(options: TyphaSourceOptions): FeedSource {
  const { set, follow, node, version, clock, random, log } = options;
  const known = new KnownKeys(random);
  const policies = new ModernPolicies();
  return {
    sets: [set],
    async *open(signal) {
      const info = `cattail node ${version}`;
      const asked = {
        ...follow,
        type: set,
        hostname: node,
        info,
        version,
        withProblems: true,
        clock,
        random,
        log,
        signal,
      };
      // Loaded late: a node that reads the datastore itself needs neither the protocol nor its native code.
      const { followKnowing } = await import("../../../typha/client/parts.ts");
      const reading = new Pace({ clock, ...pace });
      let isInSync = false;
      for await (const batch of followKnowing(asked, known)) {
        const events = batch.flatMap((update) =>
          update.is === "problem" ? cutOff(update.problem) : eventOf(update, policies),
        );
        if (events.length > 0) yield { set, events };
        for (const { is } of events) if (is === "in sync" || is === "cut off") isInSync = is === "in sync";
        if (isInSync) await reading.rest(signal);
      }
    },
  };
}

function cutOff(why: string): FeedEvent[] {
  return [{ is: "cut off", why: `no connection to Typha: ${why}` }];
}

function eventOf(update: Update, policies: ModernPolicies): FeedEvent[] {
  if (update.is !== "status") {
    const said = policies.read(update.path, update.is === "set" ? update.value : undefined);
    if (said === undefined) return [];
    const { path, value } = said;
    return [value === undefined ? { is: "delete", path } : { is: "set", path, value }];
  }
  if (update.status === syncStatus.inSync) return [{ is: "in sync" }];
  // What it is that Typha waits for it does not say; until it is in sync again the state may be old.
  return update.status === syncStatus.waitForDatastore ? [{ is: "cut off", why: "Typha waits for its datastore" }] : [];
}
