// Follow a Typha as Felix does: connect, take the snapshot, then every change; when the server goes away, go on with
// another as if nothing had happened. One consumer per call; leaving the loop closes the connection.
//
//   for await (const update of follow({ servers: "typha.example:5473", type: "felix", tls, signal })) …
//
//   discover ─▶ dial ─▶ converse ──batches──▶ the consumer        what the consumer holds is in KnownKeys, so that
//      ▲                   │                                       the next connection only has to say what differs
//      └──── backoff ◀── lost
import { CattailError, connectionFault, connectionWords, messageOf } from "../../base/lib/index.ts";
import { type SyncStatus, syncStatus } from "../../calico/model/basics.ts";
import type { ClientEvent, CloseReason } from "../wire/index.ts";
import { BadSetups } from "./connection/bad-setup.ts";
import { converse } from "./connection/connection.ts";
import { certificateRefused, dial, tlsMismatch } from "./connection/dial.ts";
import { Attempts } from "./discovery/next-server.ts";
import { addressText, type ServerAddress } from "./discovery/server-address.ts";
import { KnownKeys } from "./keys/known-keys.ts";
import { OneByOne } from "./one-by-one.ts";
import { isInvalidOption } from "./options/check-options.ts";
import { type Following, type FollowOptions, withDefaults } from "./options/follow-options.ts";
import type { ProblemUpdate, Update } from "./update.ts";

/** What is yielded besides, for whoever asked for it. */
type Asked<Problems extends boolean> = Problems extends true ? ProblemUpdate : never;

/**
 * Every update of a Typha, one by one: the snapshot, then changes, for as long as you like. Goes on with another server
 * when one goes away. Leaving the loop closes the connection.
 */
export function follow<Problems extends boolean = false>(
  options: FollowOptions<Problems>,
): AsyncGenerator<Update | Asked<Problems>> {
  // Whoever gives no options at all hears so at the first step, as of every other mistake in them.
  return new OneByOne(followBatches(options), options?.signal);
}

/** As follow(), in the batches in which updates arrived, which is cheaper where each update costs little. */
export function followBatches<Problems extends boolean = false>(
  options: FollowOptions<Problems>,
): AsyncGenerator<(Update | Asked<Problems>)[]> {
  // Problems are among them if, and only if, the options say so, which is what the type says.
  return batchesOf(options) as AsyncGenerator<(Update | Asked<Problems>)[]>;
}

/**
 * As followBatches(), for who opens it anew and still knows what it was told: each key is told again, and what has gone meanwhile is deleted.
 */
export function followKnowing(
  options: FollowOptions<boolean>,
  known: KnownKeys,
): AsyncGenerator<(Update | ProblemUpdate)[]> {
  return batchesOf(options, known);
}

async function* batchesOf(
  options: FollowOptions<boolean>,
  knownBefore?: KnownKeys,
): AsyncGenerator<(Update | ProblemUpdate)[]> {
  const following = withDefaults(options);
  const { signal, clock, log, random, maxFailures } = following;
  const known = knownBefore ?? new KnownKeys(random);
  const attempts = new Attempts();
  const badSetups = new BadSetups();
  // Since one was in sync: connections that ended or were never made, and those of them that did not get so far.
  let losses = 0;
  let failures = 0;
  let wasEverInSync = false;
  let status: SyncStatus | undefined;
  while (!signal.aborted) {
    let ended: unknown;
    let wasInSync = false;
    let isHopeless = false;
    try {
      const servers = await following.discover(signal);
      const server = attempts.next(servers, clock.monotonicMs());
      if (server === undefined) throw noServers();
      let wasGreeted = false;
      try {
        for await (const events of connection(server, following, known)) {
          const { batch, status: told } = batchOf(events, known);
          status = told ?? status;
          wasGreeted ||= told !== undefined;
          if (status === syncStatus.inSync) {
            wasInSync = true;
            wasEverInSync = true;
            losses = 0;
            failures = 0;
          }
          if (batch.length > 0) yield batch;
          if (signal.aborted) return;
        }
      } catch (error) {
        badSetups.note(server, error, wasGreeted);
        isHopeless = following.failsOnBadSetup && !wasEverInSync && badSetups.areAll(servers);
        throw error;
      }
    } catch (error) {
      ended = error;
    }
    if (signal.aborted) return;
    losses += 1;
    if (!wasInSync) failures += 1;
    if (isHopeless || failures >= maxFailures || isInvalidOption(ended)) throw ended;
    log.warn("Not connected; trying again", { failures, ...reasonOf(ended) });
    const batch: (Update | ProblemUpdate)[] = following.withProblems ? [problemOf(ended, failures)] : [];
    if (status !== undefined && status !== syncStatus.waitForDatastore) {
      status = syncStatus.waitForDatastore;
      batch.push({ is: "status", status });
    }
    if (batch.length > 0) yield batch;
    await clock.sleep(backoffMs(losses, random), signal).catch(() => undefined); // aborted: the loop's condition sees it
  }
}

/** Events, and at the end an error that says why it is the end. */
async function* connection(
  server: ServerAddress,
  following: Following,
  known: KnownKeys,
): AsyncGenerator<ClientEvent[]> {
  const { signal, log } = following;
  const { socket, arrivals, failure } = await dial(server, following, signal);
  log.info("Connected to server", { server: addressText(server) });
  known.reconnected();
  let wasGreeted = false;
  for await (const events of converse(socket, { ...following, arrivals, hello: following.hello() }, signal)) {
    yield events;
    wasGreeted ||= events.some(({ is }) => is === "hello");
    const close = events.find((event) => event.is === "close");
    const isTls = following.tls !== undefined;
    if (close !== undefined)
      throw closeError(close.why, { server: addressText(server), isTls, wasGreeted, cause: failure() });
  }
}

type Told = { readonly batch: Update[]; readonly status: SyncStatus | undefined };

function batchOf(events: readonly ClientEvent[], known: KnownKeys): Told {
  const batch: Update[] = [];
  let status: SyncStatus | undefined;
  for (const event of events) {
    if (event.is === "updates") for (const update of event.updates) known.take(update, batch);
    if (event.is === "close") break;
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

type Closed = { server: string; isTls: boolean; wasGreeted: boolean; cause: Error | undefined };

function closeError(why: CloseReason, { server, isTls, wasGreeted, cause }: Closed): CattailError {
  const look = "Look at the server's log for the same moment: it says why it closed the connection";
  // With TLS 1.3 a server judges our certificate when for us the connection is open.
  if (cause !== undefined && connectionFault(cause) === "refused")
    return certificateRefused({
      problem: `${server}: ${connectionWords(cause)}`,
      next: `Check which CA and which names the server accepts; "cattail doctor --server ${server}" with the same certificates explains it`,
      cause,
    });
  const problem = `${server}: ${why.problem} (${why.code})`;
  const isUnanswered = !wasGreeted && why.code === "WIRE_PEER_CLOSED";
  if (isUnanswered && !isTls)
    return tlsMismatch({
      problem,
      next: `${look}. A server that requires TLS closes connections without TLS: set "tls"`,
    });
  return new CattailError("CLIENT_CONNECTION_ENDED", {
    problem,
    next: isUnanswered
      ? `${look}. A server does so if it does not accept our certificate: "cattail doctor --server ${server}" checks it`
      : look,
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

function problemOf(ended: unknown, failures: number): ProblemUpdate {
  // What is not an error of ours was thrown by a discovery that the caller has given.
  const { code, problem, next } = ended instanceof CattailError ? ended : discoveryFailed(ended);
  return { is: "problem", code, problem, next, failures };
}

function discoveryFailed(cause: unknown): CattailError {
  return new CattailError("CLIENT_DISCOVERY", {
    problem: `the discovery of servers failed: ${messageOf(cause)}`,
    next: "Look at the function that was given as `servers`",
    cause,
  });
}
