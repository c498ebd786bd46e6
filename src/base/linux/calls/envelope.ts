// What goes over the socket: one line of JSON each way, then the connection ends.
//
//   ─▶ {"version":1,"call":"cni.add","body":{...}}
//   ◀─ {"version":1,"is":"done","body":{...}}   or   {"version":1,"is":"failed","error":{"code":"...","problem":"...","next":"..."}}
//
// The version is the envelope's. A server that does not know it says so in an envelope of its own, which every caller can read.
import type { Socket } from "node:net";
import { CattailError, messageOf } from "../../lib/index.ts";

const envelopeVersion = 1;

export type CallRequest = { readonly call: string; readonly body: unknown };
type SaidError = { readonly code: string; readonly problem: string; readonly next: string };
export type CallAnswer =
  | { readonly is: "done"; readonly body: unknown }
  | { readonly is: "failed"; readonly error: SaidError };

export function writeRequest({ call, body }: CallRequest): string {
  return `${JSON.stringify({ version: envelopeVersion, call, body })}\n`;
}

/** Throws what the caller is to be told. */
export function readRequest(line: string): CallRequest {
  const value = parsed(line, "the request");
  if (value.version !== envelopeVersion) {
    throw new CattailError("CALL_VERSION", {
      problem: `the caller speaks version ${JSON.stringify(value.version)} of the socket's format, this side version ${envelopeVersion}`,
      next: "Bring both programs to the same release, and restart the one that listens",
    });
  }
  if (typeof value.call !== "string") throw broken("the request names no call");
  return { call: value.call, body: value.body };
}

export function writeAnswer(answer: CallAnswer): string {
  return `${JSON.stringify({ version: envelopeVersion, ...answer })}\n`;
}

/** The body, or the error that the other side met. */
export function readAnswer(line: string): unknown {
  const value = parsed(line, "the answer");
  if (value.is === "done") return value.body;
  const said = value.error;
  if (value.is !== "failed" || !isRecord(said)) throw broken("the answer is neither a success nor an error");
  const { code, problem, next } = said;
  if (typeof code !== "string" || typeof problem !== "string" || typeof next !== "string") {
    throw broken("the answer's error has no code, problem and next step");
  }
  throw new CattailError(code, { problem, next });
}

/** What a caller is told of what was thrown: its words, never its stack. */
export function failedAnswer(thrown: unknown): CallAnswer {
  const error =
    thrown instanceof CattailError
      ? thrown
      : new CattailError("CALL_FAILED", {
          problem: messageOf(thrown),
          next: "See the log of the program that was asked",
        });
  return { is: "failed", error: { code: error.code, problem: error.problem, next: error.next } };
}

/** The first line that comes. Rejects when it is longer than allowed, or when the connection ends before it. */
export function readLine(socket: Socket, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const done = (settle: () => void): void => {
      socket.off("data", onData).off("end", onEnd).off("error", onError).off("close", onEnd);
      settle();
    };
    const onData = (chunk: Buffer): void => {
      const newline = chunk.indexOf(10);
      const part = newline < 0 ? chunk : chunk.subarray(0, newline);
      bytes += part.length;
      chunks.push(part);
      if (bytes > maxBytes) done(() => reject(tooLarge(maxBytes)));
      else if (newline >= 0) done(() => resolve(Buffer.concat(chunks).toString("utf8")));
    };
    const onEnd = (): void => done(() => reject(broken("the connection ended before a whole line came")));
    const onError = (error: Error): void => done(() => reject(error));
    socket.on("data", onData).on("end", onEnd).on("error", onError).on("close", onEnd);
  });
}

export function tooLarge(maxBytes: number): CattailError {
  return new CattailError("CALL_TOO_LARGE", {
    problem: `a message over the socket has more than ${maxBytes} bytes`,
    next: "Ask for less at a time",
  });
}

export function broken(what: string): CattailError {
  return new CattailError("CALL_BROKEN", {
    problem: what,
    next: "See the log of the program at the other end: it may have been stopped, or be of another release",
  });
}

function parsed(line: string, what: string): { readonly [name: string]: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw broken(`${what} is not JSON`);
  }
  if (!isRecord(value)) throw broken(`${what} is not an object`);
  return value;
}

function isRecord(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
