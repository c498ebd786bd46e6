// The first steps towards a server, one by one, so that the one that fails can be named: TCP, then TLS, then whether our
// own certificate is good enough for it.
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { type Clock, settleWithin } from "../../../base/lib/index.ts";
import {
  checkOf,
  loadTlsMaterial,
  parseCertificate,
  tlsClientOptions,
  tlsPolicy,
  verifyPeer,
} from "../../../base/security/index.ts";
import type { ClientTls, ServerAddress } from "../../../typha/client/index.ts";
import { addressText } from "../../../typha/client/parts.ts";
import { daysText, soonMs } from "../checks/check-tls-files.ts";
import { type Finding, type ProblemFinding, passed, problem } from "../finding.ts";

export type Opening = {
  readonly findings: Finding[];
  readonly timingsMs: { tcp?: number; tls?: number };
  /** Absent: a finding says why. */
  socket?: Socket;
  /** What the socket complained of last; after TLS 1.3 a refusal of our certificate arrives only here. */
  lastError(): NodeJS.ErrnoException | undefined;
};

export type OpenOptions = { readonly tls: ClientTls | undefined; readonly timeoutMs: number; readonly clock: Clock };

export async function openConnection(to: ServerAddress, options: OpenOptions): Promise<Opening> {
  const { clock, tls } = options;
  let lastError: NodeJS.ErrnoException | undefined;
  const opening: Opening = { findings: [], timingsMs: {}, lastError: () => lastError };
  const note = (error: NodeJS.ErrnoException) => {
    lastError = error;
  };
  const startedMs = clock.monotonicMs();
  const tcp = connectTcp({ host: to.host, port: to.port }).on("error", note).setNoDelay(true);
  const reached = await happened(tcp, "connect", options);
  if (reached !== true) {
    tcp.destroy();
    opening.findings.push(unreachable(to, reached));
    return opening;
  }
  const tcpMs = clock.monotonicMs() - startedMs;
  opening.timingsMs.tcp = tcpMs;
  opening.findings.push(passed(`TCP connection in ${tcpMs.toFixed(1)} ms`));
  if (tls === undefined) return { ...opening, socket: tcp };
  const material = await loadTlsMaterial(tls); // the files were checked before
  // Looked at before it is judged, so that every reason can be told. Nothing is said to a server that is found wanting.
  const socket = connectTls({
    ...tlsClientOptions(material, tlsPolicy({}), tls.server),
    socket: tcp,
    rejectUnauthorized: false,
  }).on("error", note);
  const secured = await happened(socket, "secureConnect", options);
  const found = secured === true ? judge(socket, tls, options) : [handshakeProblem(secured)];
  opening.findings.push(...found);
  opening.timingsMs.tls = clock.monotonicMs() - startedMs - tcpMs;
  if (secured !== true || found.some(({ level }) => level === "broken")) {
    socket.destroy();
    return opening;
  }
  const refused = await refusesUs(socket, { clock, lastError: () => lastError });
  if (refused !== undefined) {
    socket.destroy();
    opening.findings.push(refused);
    return opening;
  }
  return { ...opening, socket };
}

/** What is wrong with the server's certificate, as a client of the original would see it. */
function judge(socket: TLSSocket, tls: ClientTls, { clock }: OpenOptions): Finding[] {
  const der = socket.getPeerCertificate().raw;
  const facts = parseCertificate(der);
  const nowMs = clock.wallMs();
  const who = `${JSON.stringify(facts.subject)}, issued by ${JSON.stringify(facts.issuer)}`;
  const handshake = passed(`${socket.getProtocol()} with ${socket.getCipher().name}`);
  if (!socket.authorized) {
    const reason = String(socket.authorizationError);
    if (facts.notAfterMs <= nowMs || facts.notBeforeMs > nowMs) {
      const dates = `${new Date(facts.notBeforeMs).toISOString()} to ${new Date(facts.notAfterMs).toISOString()}`;
      return [handshake, problem("SERVER_CERTIFICATE_EXPIRED", `${who}, is valid from ${dates}`)];
    }
    const verdict = verifyPeer(der, { requirement: tls.server, role: "server" });
    if (!verdict.accepted && /TLS_PEER_REFUSED|PURPOSE/.test(reason)) {
      return [handshake, problem("SERVER_NAME", `${who}: ${verdict.says}`)];
    }
    return [handshake, problem("SERVER_UNTRUSTED", `${who}, does not chain to ${tls.caFile} (${reason})`)];
  }
  const leftMs = facts.notAfterMs - nowMs;
  return [
    handshake,
    leftMs < soonMs
      ? problem("SERVER_CERTIFICATE_EXPIRES_SOON", `${who}, expires in ${daysText(leftMs)}`)
      : passed(`its certificate is ${who}, and valid ${daysText(leftMs)} more`),
  ];
}

const pauseMs = 250;

/** With TLS 1.3 a server judges our certificate after the handshake. It then closes; one that is content waits. */
async function refusesUs(
  socket: TLSSocket,
  { clock, lastError }: Pick<Opening, "lastError"> & Pick<OpenOptions, "clock">,
): Promise<ProblemFinding | undefined> {
  socket.resume(); // a close behind unread bytes would not be seen; a server has nothing to say before our hello
  const closed = await happened(socket, "close", { clock, timeoutMs: pauseMs });
  socket.pause();
  if (closed === "timeout" && !socket.readableEnded) return undefined;
  const error = lastError();
  return problem(
    "CLIENT_REFUSED",
    `it closed right after the handshake${error === undefined ? "" : `: ${says(error)}`}`,
  );
}

export function handshakeProblem(error: Error | "timeout"): ProblemFinding {
  if (error === "timeout") return problem("TLS_HANDSHAKE", "the handshake was not over in time");
  const code = (error as NodeJS.ErrnoException).code ?? "";
  if (checkOf(code) === "not-tls") {
    return problem("SERVER_NOT_TLS", `it answered the TLS hello with something else (${code})`);
  }
  if (isRefusal(error)) return problem("CLIENT_REFUSED", `during the handshake: ${says(error)}`);
  if (code === "ECONNRESET" || /disconnected before secure/.test(error.message)) {
    return problem("SERVER_NOT_TLS", "it closed the connection in the middle of the TLS hello");
  }
  return problem("TLS_HANDSHAKE", says(error));
}

/** Whether the error is the server's alert about our certificate. */
export function isRefusal(error: NodeJS.ErrnoException): boolean {
  return checkOf(error.code ?? "") === "refused-by-peer";
}

export function says(error: NodeJS.ErrnoException): string {
  const alert = /ALERT_([A-Z_]+)$/.exec(error.code ?? "")?.[1];
  return alert === undefined ? error.message : `the server's alert was "${alert.toLowerCase().replaceAll("_", " ")}"`;
}

function unreachable(to: ServerAddress, error: Error | "timeout"): ProblemFinding {
  const code = error === "timeout" ? "ETIMEDOUT" : ((error as NodeJS.ErrnoException).code ?? error.message);
  const meaning: { readonly [code: string]: string } = {
    ECONNREFUSED: "nobody listens there",
    ETIMEDOUT: "no answer; a firewall may drop the packets, or the host is down",
    ENOTFOUND: "the host name is not known",
    EAI_AGAIN: "the name server does not answer",
    EHOSTUNREACH: "there is no route to the host",
    ENETUNREACH: "there is no route to its network",
  };
  return problem("SERVER_UNREACHABLE", `${addressText(to)}: ${meaning[code] ?? "the connection failed"} (${code})`);
}

/** True once the event came; the error or "timeout" that came first. */
async function happened(
  socket: Socket,
  event: string,
  { clock, timeoutMs }: Pick<OpenOptions, "clock" | "timeoutMs">,
): Promise<true | Error | "timeout"> {
  const { promise, resolve } = Promise.withResolvers<true | Error>();
  socket.once(event, () => resolve(true));
  socket.once("error", resolve);
  socket.once("close", () => resolve(new Error("the connection was closed")));
  const settled = await settleWithin(promise, { clock, limitMs: timeoutMs });
  return settled.is === "late" ? "timeout" : settled.value;
}
