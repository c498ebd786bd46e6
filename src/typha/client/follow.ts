// Follow a Typha as Felix does: connect, take the snapshot, then every change; when the server goes away, go on with
// another as if nothing had happened. One consumer per call; leaving the loop closes the connection.
//
//   for await (const update of follow({ servers: "typha.example:5473", type: "felix", tls, signal })) …
//
//   discover ─▶ dial ─▶ converse ──batches──▶ the consumer        what the consumer holds is in KnownKeys, so that
//      ▲                   │                                       the next connection only has to say what differs
//      └──── backoff ◀── lost
import { CattailError, messageOf } from "../../base/lib/index.ts";
import { type SyncStatus, syncStatus } from "../../calico/model/basics.ts";
import type { ClientEvent, CloseReason } from "../wire/index.ts";
import { converse } from "./connection/connection.ts";
import { dial } from "./connection/dial.ts";
import { Attempts } from "./discovery/next-server.ts";
import { addressText, type ServerAddress } from "./discovery/server-address.ts";
import { KnownKeys } from "./keys/known-keys.ts";
import { OneByOne } from "./one-by-one.ts";
import { isInvalidOption } from "./options/check-options.ts";
import { type Following, type FollowOptions, withDefaults } from "./options/follow-options.ts";
import type { Update } from "./update.ts";

/**
 * Every update of a Typha, one by one: the snapshot, then changes, for as long as you like. Goes on with another server
 * when one goes away. Leaving the loop closes the connection.
 */
export function follow(options: FollowOptions): AsyncGenerator<Update> {
  // Whoever gives no options at all hears so at the first step, as of every other mistake in them.
  return new OneByOne(followBatches(options), options?.signal);
}

/** As follow(), in the batches in which updates arrived, which is cheaper where each update costs little. */
export async function* followBatches(options: FollowOptions): AsyncGenerator<Update[]> {
  const following = withDefaults(options);
  const { signal, clock, log, random, maxFailures } = following;
  const known = new KnownKeys(random);
  const attempts = new Attempts();
  // Since one was in sync: connections that ended or were never made, and those of them that did not get so far.
  let losses = 0;
  let failures = 0;
  let status: SyncStatus | undefined;
  while (!signal.aborted) {
    let ended: unknown;
    let wasInSync = false;
    try {
      const server = attempts.next(await following.discover(signal), clock.monotonicMs());
      if (server === undefined) throw noServers();
      for await (const events of connection(server, following, known)) {
        const { batch, status: told, close } = batchOf(events, known);
        status = told ?? status;
        if (status === syncStatus.inSync) {
          wasInSync = true;
          losses = 0;
          failures = 0;
        }
        if (close !== undefined) ended = closeError(close, addressText(server), following.tls !== undefined);
        if (batch.length > 0) yield batch;
        if (signal.aborted) return;
      }
    } catch (error) {
      ended = error;
    }
    if (signal.aborted) return;
    losses += 1;
    if (!wasInSync) failures += 1;
    if (failures >= maxFailures || isInvalidOption(ended)) throw ended;
    log.warn("Not connected; trying again", { failures, ...reasonOf(ended) });
    if (status !== undefined && status !== syncStatus.waitForDatastore) {
      status = syncStatus.waitForDatastore;
      yield [{ is: "status", status }];
    }
    await clock.sleep(backoffMs(losses, random), signal).catch(() => undefined); // aborted: the loop's condition sees it
  }
}

async function* connection(
  server: ServerAddress,
  following: Following,
  known: KnownKeys,
): AsyncGenerator<ClientEvent[]> {
  const { signal, log } = following;
  const { socket, arrivals } = await dial(server, following, signal);
  log.info("Connected to server", { server: addressText(server) });
  known.reconnected();
  yield* converse(socket, { ...following, arrivals, hello: following.hello() }, signal);
}

type Told = { readonly batch: Update[]; readonly status: SyncStatus | undefined; readonly close?: CloseReason };

function batchOf(events: readonly ClientEvent[], known: KnownKeys): Told {
  const batch: Update[] = [];
  let status: SyncStatus | undefined;
  for (const event of events) {
    if (event.is === "updates") for (const update of event.updates) known.take(update, batch);
    if (event.is === "close") return { batch, status, close: event.why };
    if (event.is === "status" && event.status === syncStatus.inSync) known.settle(batch);
    if (event.is === "hello" || event.is === "status") {
      status = event.is === "hello" ? syncStatus.resyncInProgress : event.status;
      batch.push({ is: "status", status });
    }
  }
  return { batch, status };
}

// The first retry is nearly at once, because most losses are a server that restarts and others that wait; a server that
// refuses us is not asked more than about once in ten seconds.
function backoffMs(losses: number, random: () => number): number {
  const ceiling = Math.min(10_000, 100 * 2 ** Math.min(losses - 1, 10));
  return ceiling * (0.5 + random() / 2);
}

function closeError(why: CloseReason, server: string, isTls: boolean): CattailError {
  const look = "Look at the server's log for the same moment: it says why it closed the connection";
  return new CattailError("CLIENT_CONNECTION_ENDED", {
    problem: `${server}: ${why.problem} (${why.code})`,
    next:
      isTls || why.code !== "WIRE_PEER_CLOSED"
        ? look
        : `${look}. A server that requires TLS closes connections without TLS`,
  });
}

function noServers(): CattailError {
  return new CattailError("CLIENT_NO_SERVERS", {
    problem: "no Typha server is known",
    next: "Give one as host:port, or check that the calico-typha Service has ready endpoints",
  });
}

function reasonOf(ended: unknown): { reason: string; next?: string } {
  return ended instanceof CattailError ? { reason: ended.problem, next: ended.next } : { reason: messageOf(ended) };
}
