// One watch on one range of keys, on a stream of its own: what etcd sends, whole revisions at a time.
//
//   create ->            <- created            the revision the member is at
//                        <- events             (a large answer comes in fragments; a revision is never handed out in part)
//   progress request ->  <- progress           asked for whenever nothing came for a while: a silent stream is a dead one
//                        <- canceled           compacted, or refused

import type { GrpcCall } from "../../../base/grpc/index.ts";
import { type Clock, untilSilent } from "../../../base/lib/index.ts";
import { DatastoreError, unavailable } from "../errors.ts";
import type { EtcdConnection, OpenStream } from "./connection.ts";
import { gathered, type Source } from "./gathered.ts";
import type { KeyRange } from "./keys.ts";
import { type EtcdEvent, methods, type WatchRequest, type WatchResponse } from "./messages.ts";
import { cancelReasonToError, isTokenRefused, toDatastoreError } from "./status.ts";

export type WatchItem =
  | { readonly is: "created"; readonly revision: bigint }
  | { readonly is: "progress"; readonly revision: bigint }
  | { readonly is: "events"; readonly events: readonly EtcdEvent[] };

export type WatchRangeOptions = {
  readonly range: KeyRange;
  readonly startRevision: bigint;
  /** Whether events shall also say what was stored before. */
  readonly withBefore: boolean;
  readonly doing: string;
  readonly clock: Clock;
  readonly silenceMs: number;
  readonly signal: AbortSignal;
};

export async function* watchRange(connection: EtcdConnection, options: WatchRangeOptions): AsyncGenerator<WatchItem> {
  for (let isSecondTry = false; ; isSecondTry = true) {
    try {
      return yield* watchOnce(connection, options);
    } catch (error) {
      // Refused before it began: nothing was handed out, and the next try fetches a new token.
      if (isSecondTry || !isTokenRefused(error)) throw error;
    }
  }
}

async function* watchOnce(connection: EtcdConnection, options: WatchRangeOptions): AsyncGenerator<WatchItem> {
  const { doing, signal } = options;
  const open = await connection.openStream(methods.watch.path, { doing, signal, isRead: true });
  const { stream, endpoint } = open;
  const cancel = () => stream.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    say(stream, {
      createRequest: {
        ...options.range,
        startRevision: String(options.startRevision),
        progressNotify: true,
        fragment: true,
        ...(options.withBefore ? { prevKv: true } : {}),
      },
    });
    yield* wholeRevisions(responses(open, options), doing);
  } catch (error) {
    signal.throwIfAborted();
    if (isTokenRefused(error)) connection.tokenRefused();
    const known = toDatastoreError(error, doing);
    await connection.failed(endpoint, known);
    throw known;
  } finally {
    signal.removeEventListener("abort", cancel);
    stream.cancel();
  }
}

function say(stream: GrpcCall, request: WatchRequest): void {
  stream.write(methods.watch.encode(request));
}

function decoded(stream: GrpcCall): Source<WatchResponse> {
  return {
    listen: ({ item, end }) => stream.listen({ message: (bytes) => item(methods.watch.decode(bytes)), end }),
    pause: () => stream.pause(),
    resume: () => stream.resume(),
  };
}

function responses(
  { stream, noAnswer }: OpenStream,
  { clock, silenceMs, signal, doing }: WatchRangeOptions,
): AsyncIterable<readonly WatchResponse[]> {
  const open = (hangUp: AbortSignal): AsyncIterable<readonly WatchResponse[]> => {
    hangUp.addEventListener("abort", () => stream.cancel(), { once: true });
    return gathered(decoded(stream), clock);
  };
  const ask = () => say(stream, { progressRequest: {} });
  return untilSilent(open, { clock, signal, silenceMs, what: doing, error: unavailable, ask, onSilence: noAnswer });
}

async function* wholeRevisions(
  incoming: AsyncIterable<readonly WatchResponse[]>,
  doing: string,
): AsyncGenerator<WatchItem> {
  let held: EtcdEvent[] = []; // events of one revision, of which more may follow
  for await (const responses of incoming) {
    let complete: EtcdEvent[] = [];
    for (const response of responses) {
      const isWord = response.created || response.canceled || (response.events.length === 0 && held.length === 0);
      if (isWord) {
        if (complete.length > 0) yield { is: "events", events: complete };
        complete = [];
        if (response.canceled) throw cancelled(response, doing);
        const revision = BigInt(response.header?.revision ?? 0);
        yield { is: response.created ? "created" : "progress", revision };
      }
      for (const event of response.events) held.push(event);
      const last = response.fragment ? held.at(-1)?.kv.modRevision : undefined;
      for (const event of held) if (event.kv.modRevision !== last) complete.push(event);
      held = last === undefined ? [] : held.filter((event) => event.kv.modRevision === last);
    }
    if (complete.length > 0) yield { is: "events", events: complete };
  }
}

function cancelled(response: WatchResponse, doing: string): DatastoreError {
  if (response.compactRevision !== "0") {
    return new DatastoreError("expired", `${doing}: etcd has compacted up to revision ${response.compactRevision}`);
  }
  return cancelReasonToError(response.cancelReason, doing);
}
