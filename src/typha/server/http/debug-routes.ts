// Questions an operator asks of a running server, as read-only JSON on the debug address: who is connected and how far
// behind, what is served and how far a change has travelled, what each watch is doing, which certificates are in use,
// where each setting comes from. docs/reference/debug-endpoints.md describes the answers.

import { answerJson, type HttpHandler, jsonRoute } from "../../../base/observe/index.ts";
import type { CertificateFacts } from "../../../base/security/index.ts";
import type { FollowReport } from "../../../calico/datastore/index.ts";
import { type SyncerType, syncerTypes } from "../../../calico/model/index.ts";
import type { ClientReport } from "../../fanout/index.ts";
import { describeSettings } from "../../settings/index.ts";
import type { KeyDetail, KeyFacts } from "../introspection/introspection.ts";
import type { JournalEntry } from "../introspection/journal.ts";
import type { TyphaParts } from "../typha-parts.ts";

export type DebugParts = Pick<TyphaParts, "server" | "syncers" | "introspection" | "tls"> & {
  readonly options: Pick<TyphaParts["options"], "read" | "clock">;
};

const usualKeys = 1000;
const mostKeys = 100_000;

export function debugRoutes(parts: DebugParts): { readonly [path: string]: HttpHandler } {
  const { server, syncers, tls, options } = parts;
  return {
    "/clients": jsonRoute(async () => (await server.clients()).map(clientAnswer)),
    "/keys": (_request, response, url) => {
      const answer = keysAnswer(url, parts);
      answerJson(response, "error" in answer ? 400 : 200, answer);
    },
    "/keys/*": jsonRoute((url) => keyAnswer(url, parts)),
    "/watches": jsonRoute(() => syncers.reports().map(watchAnswer)),
    "/certs": jsonRoute(() => certificatesAnswer(tls, options.clock.wallMs())),
    "/settings": jsonRoute(() => describeSettings(options.read)),
    "/problems": jsonRoute(() => syncers.stats().listProblems(1000)),
  };
}

function clientAnswer(client: ClientReport): unknown {
  const { id, node, syncer, version, info, address, phase, position, lagUpdates, bytesSent, queuedBytes } = client;
  const { compression, policyKeys, restartsDecoder } = client;
  return {
    node,
    syncer: syncer ?? null,
    version,
    info,
    features: { compression, policyKeys, restartsDecoder },
    address,
    connectedSince: isoTime(client.connectedAtMs),
    phase,
    position,
    lagUpdates,
    lagMs: Math.round(client.lagMs),
    bytesSent,
    queuedBytes,
    pingMs: client.pingMs ?? null,
    worker: client.worker,
    connectionId: id,
  };
}

function keysAnswer({ searchParams }: URL, { introspection }: DebugParts): object {
  const syncer = syncerOf(searchParams.get("syncer") ?? "felix");
  if (syncer === undefined) return { error: `syncer must be one of ${syncerTypes.join(", ")}` };
  const offset = wholeNumber(searchParams.get("offset"), 0);
  const limit = wholeNumber(searchParams.get("limit"), usualKeys);
  if (offset === undefined || limit === undefined) return { error: "offset and limit must be whole numbers" };
  const { total, rows } = introspection.keys({
    syncer,
    prefix: searchParams.get("prefix") ?? "",
    search: searchParams.get("search") ?? "",
    kind: searchParams.get("kind") ?? "",
    offset,
    limit: Math.min(limit, mostKeys),
  });
  return { syncer, total, offset, keys: rows.map(rowAnswer) };
}

function rowAnswer({ path, kind, revision, bytes, changedAtMs }: KeyFacts): object {
  return { key: path, kind, revision, size: bytes, changed: isoTime(changedAtMs) };
}

// A key's path holds percent signs of its own. It is taken as it stands in the address; who encoded it is understood, too.
async function keyAnswer(url: URL, { introspection }: DebugParts): Promise<unknown> {
  const asWritten = url.pathname.slice("/keys".length);
  const asked = url.searchParams.get("syncer");
  const syncers = asked === null ? syncerTypes : syncerTypes.filter((syncer) => syncer === asked);
  for (const path of new Set([asWritten, ...decoded(asWritten)])) {
    for (const syncer of syncers) {
      const detail = await introspection.key(syncer, path);
      if (detail !== undefined) return detailAnswer(detail);
    }
  }
  return undefined;
}

function detailAnswer(detail: KeyDetail): object {
  const { trace } = detail;
  return {
    syncer: detail.syncer,
    ...rowAnswer(detail),
    value: detail.value === null ? null : asJson(detail.value),
    trace: {
      received: isoTime(trace.receivedAtMs),
      cached: isoTime(trace.cachedAtMs),
      firstClientWrite: isoTime(trace.firstWriteAtMs),
      lastClientWrite: isoTime(trace.lastWriteAtMs),
      clients: trace.clients,
      clientsBehind: trace.clientsBehind,
      slowestClient: trace.slowestClient,
    },
    history: detail.history.map(changeAnswer),
  };
}

function changeAnswer({ change, revision, bytes, receivedAtMs }: JournalEntry): object {
  return { at: isoTime(receivedAtMs), change, revision, size: bytes };
}

function watchAnswer(report: FollowReport): object {
  const { kind, state, objects, revision, relists, watchesOpened, silences, errors, lastError, missingRule } = report;
  return {
    kind,
    state,
    objects,
    revision,
    lastEvent: isoTime(report.lastEventAtMs ?? null),
    restarts: Math.max(0, watchesOpened - 1),
    relists,
    silences,
    errors,
    lastError: lastError === undefined ? null : { ...lastError, at: isoTime(lastError.atMs) },
    ...(missingRule === undefined ? {} : { missingRule }),
  };
}

function certificatesAnswer(tls: TyphaParts["tls"], nowMs: number): unknown {
  if (tls === undefined) return { tls: "off" };
  const { material, problems, refused, reloads, failedReloads } = tls.state();
  const inWords = ({ notBeforeMs, notAfterMs, ...facts }: CertificateFacts) => ({
    ...facts,
    notBefore: isoTime(notBeforeMs),
    notAfter: isoTime(notAfterMs),
    daysLeft: Math.floor((notAfterMs - nowMs) / 86_400_000),
  });
  return {
    tls: "on",
    files: tls.files,
    certificate: inWords(material.certificate),
    authorities: material.authorities.map(inWords),
    problems,
    refused: refused ?? null,
    reloads,
    failedReloads,
  };
}

/** JSON as JSON, unless reading it would change it (numbers beyond 2^53); many values are plain text. */
function asJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : text;
  } catch {
    return text; // not JSON, which is all one can say of it
  }
}

function decoded(path: string): string[] {
  try {
    return [decodeURIComponent(path), decodeURIComponent(path).replace(/^\/+/, "/")];
  } catch {
    return []; // a lone percent sign: it was meant as it stands
  }
}

function syncerOf(name: string): SyncerType | undefined {
  return syncerTypes.find((syncer) => syncer === name);
}

function wholeNumber(text: string | null, usual: number): number | undefined {
  if (text === null) return usual;
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
