// The body of an answer: whole, bounded in bytes, and given up when it stops coming.
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../../base/lib/index.ts";
import { DatastoreError } from "../errors.ts";
import { untilSilent } from "../silence.ts";
import { parseText } from "./parse-text.ts";
import { apiLimits } from "./settings.ts";
import { connectionError } from "./status-error.ts";

export type ReadOptions = {
  readonly maxBytes: number;
  /** The request in words, for errors. */
  readonly what: string;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
};

export async function readText(response: IncomingMessage, options: ReadOptions): Promise<string> {
  const { maxBytes, what, clock, signal = new AbortController().signal } = options;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const open = (hungUp: AbortSignal): AsyncIterable<Buffer> => {
    hungUp.addEventListener("abort", () => response.destroy(), { once: true });
    return response;
  };
  try {
    for await (const chunk of untilSilent(open, { clock, signal, silenceMs: apiLimits.pageSilenceMs, what })) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new DatastoreError("invalid", `${what}: the answer has more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw connectionError(error, what);
  }
  return Buffer.concat(chunks, bytes).toString("utf8");
}

export function parseAnswer(text: string, what: string): unknown {
  try {
    return parseText(text);
  } catch (error) {
    throw new DatastoreError("invalid", `${what}: the answer is not JSON`, { cause: error });
  }
}

export function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text; // a proxy's HTML, or nothing
  }
}
