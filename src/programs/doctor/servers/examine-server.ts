// One server, examined as a node would meet it: connection, TLS, hello, snapshot, in sync; then watched for a while.
import type { Socket } from "node:net";
import type { Clock } from "../../../base/lib/index.ts";
import { type SyncerType, syncStatus } from "../../../calico/model/index.ts";
import type { ClientTls, ServerAddress } from "../../../typha/client/index.ts";
import { addressText, converse } from "../../../typha/client/parts.ts";
import type { ClientEvent, CloseReason, ServerHello } from "../../../typha/wire/index.ts";
import { type Finding, type ProblemFinding, passed, problem, type Section } from "../finding.ts";
import { handshakeProblem, isRefusal, type Opening, openConnection } from "./open-connection.ts";
import { ServerView } from "./server-view.ts";

export type ExamineOptions = {
  readonly tls: ClientTls | undefined;
  readonly type: SyncerType;
  readonly policyKeys: "modern" | "legacy";
  /** For each of: connecting, the hello, the snapshot and in-sync together. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Called when there is nothing more to wait for but changes. */
  readonly onSettled: () => void;
  /** Ends the watching. */
  readonly enough: AbortSignal;
};

export type Examined = { readonly section: Section; readonly view?: ServerView };

export async function examineServer(address: ServerAddress, options: ExamineOptions): Promise<Examined> {
  const name = `server ${addressText(address)}`;
  const opening = await openConnection(address, options);
  try {
    if (opening.socket === undefined) return { section: { name, findings: opening.findings } };
    const view = new ServerView(addressText(address), opening.timingsMs);
    const findings = await listen(opening.socket, { ...options, opening, view });
    return { section: { name, findings: [...opening.findings, ...findings] }, view };
  } finally {
    options.onSettled();
  }
}

type Examination = ExamineOptions & { readonly opening: Opening; readonly view: ServerView };

async function listen(socket: Socket, examination: Examination): Promise<Finding[]> {
  const { clock, timeoutMs, view, enough, onSettled } = examination;
  const late = new AbortController();
  const settled = new AbortController();
  clock.sleep(timeoutMs, settled.signal).then(
    () => late.abort(),
    () => undefined, // in sync, or over, in time
  );
  const startedMs = clock.monotonicMs();
  let close: CloseReason | undefined;
  const conversation = {
    hello: helloOf(examination),
    readTimeoutMs: Math.max(timeoutMs, 30_000),
    writeTimeoutMs: 10_000,
    clock,
  };
  for await (const events of converse(socket, conversation, AbortSignal.any([late.signal, enough]))) {
    const nowMs = clock.monotonicMs();
    for (const event of events) close = take(event, view, { nowMs, sinceMs: nowMs - startedMs }) ?? close;
    if (view.status !== syncStatus.inSync) continue;
    settled.abort();
    onSettled();
  }
  settled.abort();
  if (view.hello === undefined) {
    return [noHello({ ...examination, isLate: late.signal.aborted, answerBytes: socket.bytesRead }, close)];
  }
  const greeting = passed(describeHello(view.hello));
  if (view.timingsMs.inSync !== undefined) return [greeting, ...describeKeys(view)];
  if (close !== undefined && !enough.aborted && !late.signal.aborted) return [greeting, lost(close)];
  const status = view.status === undefined ? "no status" : `status ${view.status}`;
  const seen = `${view.keys.size} keys, ${status}, after ${timeoutMs / 1000} s`;
  const code = view.timingsMs.snapshot === undefined ? "SERVER_SILENT" : "SERVER_NOT_IN_SYNC";
  return [
    greeting,
    problem(
      code,
      `${seen}: ${code === "SERVER_SILENT" ? "the snapshot is not complete" : "it waits for its datastore"}`,
    ),
  ];
}

function take(
  event: ClientEvent,
  view: ServerView,
  { nowMs, sinceMs }: { nowMs: number; sinceMs: number },
): CloseReason | undefined {
  switch (event.is) {
    case "hello":
      view.greeted(event.hello, sinceMs);
      break;
    case "updates":
      view.updated(event.updates, nowMs);
      break;
    case "restart":
      view.restarted(sinceMs);
      break;
    case "status":
      view.statusChanged(event.status, sinceMs);
      break;
    case "close":
      return event.why;
  }
  return undefined;
}

function helloOf({ type, policyKeys }: ExamineOptions) {
  return {
    hostname: "cattail-doctor",
    info: "cattail doctor",
    version: "",
    syncerType: type,
    supportsDecoderRestart: true,
    supportedCompressionAlgorithms: ["snappy"],
    supportsModernPolicyKeys: policyKeys === "modern",
    clientConnId: 1n,
  };
}

/** How long the alert is with which a TLS server answers what is no TLS. */
const tlsAlertBytes = 7;

function noHello(
  { opening, tls, type, isLate, answerBytes }: Examination & { isLate: boolean; answerBytes: number },
  close: CloseReason | undefined,
): ProblemFinding {
  const error = opening.lastError();
  if (error !== undefined && isRefusal(error)) return handshakeProblem(error);
  if (isLate || close === undefined || close.code === "WIRE_READ_TIMEOUT")
    return problem("SERVER_SILENT", "no hello in time");
  if (close.code !== "WIRE_PEER_CLOSED") return lost(close);
  if (tls === undefined && answerBytes > 0 && answerBytes !== tlsAlertBytes) {
    return problem("SERVER_PROTOCOL", `it answered ${answerBytes} bytes that are no hello, and closed`);
  }
  if (tls === undefined) return problem("SERVER_WANTS_TLS", "it closed the connection when it saw our hello");
  return problem("SERVER_REFUSED_HELLO", `it closed the connection when we asked for ${type}`);
}

function lost(close: CloseReason): ProblemFinding {
  if (close.code === "WIRE_PEER_CLOSED") return problem("SERVER_REFUSED_HELLO", close.problem);
  return problem("SERVER_PROTOCOL", `${close.problem} (${close.code})`);
}

function describeHello({ version, syncerType }: ServerHello): string {
  return `hello: version ${version === "" ? "not given" : version}, syncer ${syncerType}`;
}

function describeKeys(view: ServerView): Finding[] {
  const { snapshot = 0, inSync = 0 } = view.timingsMs;
  const size = `${view.keys.size} keys, ${(view.valueBytes / 1e6).toFixed(1)} MB of values`;
  if (view.keys.size === 0) return [problem("SERVER_EMPTY", "in sync, with no keys")];
  const kinds = Object.entries(view.keysPerKind()).map(([kind, count]) => `${count} ${kind}`);
  return [
    passed(`snapshot in ${snapshot.toFixed(0)} ms, in sync after ${inSync.toFixed(0)} ms: ${size}`),
    passed(`keys: ${kinds.join(", ")}`),
  ];
}
