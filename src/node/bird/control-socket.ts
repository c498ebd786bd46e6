// BIRD's control socket, as its own birdc speaks it: one command a line, and an answer of lines with codes.
//
//   0001 BIRD 2.0.12 ready.        greets whoever connects
//   2002-Name       Proto   …      four digits and a dash: more follows
//   1002-device1    Device  …
//    Mesh_10_0_0_1  BGP     …      a blank: the code of the line before
//   0000                           four digits and a blank: the end; 8xxx and 9xxx are errors
import { createConnection } from "node:net";
import { CattailError } from "../../base/lib/index.ts";

export type BirdLine = { readonly code: number; readonly text: string };

export type AskOptions = {
  readonly signal?: AbortSignal | undefined;
  /** A BIRD that is silent for so long does not answer. */
  readonly silenceMs?: number;
  readonly mostBytes?: number;
};

/**
 * The lines of the answer, without the greeting and the end. Throws BIRD_UNREACHABLE, whose cause is the system's error, and
 * BIRD_ANSWER for an answer that is none.
 */
export async function askBird(path: string, command: string, options: AskOptions = {}): Promise<readonly BirdLine[]> {
  const { signal, silenceMs = 2000, mostBytes = 16 << 20 } = options;
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<readonly BirdLine[]>();
  const socket = createConnection({ path });
  const reader = new AnswerReader();
  let bytes = 0;
  let isConnected = false;
  const fail = (problem: string) => reject(badAnswer(path, problem));
  const abort = () => reject(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  socket.setEncoding("utf8");
  socket.setTimeout(silenceMs, () => fail(`it did not answer within ${silenceMs} ms`));
  socket.on("connect", () => {
    isConnected = true;
    socket.write(`${command}\n`);
  });
  socket.on("error", (error) => {
    if (isConnected) fail(`the connection broke: ${error.message}`);
    else reject(unreachable(path, error));
  });
  socket.on("data", (chunk: string) => {
    bytes += chunk.length;
    if (bytes > mostBytes) fail(`its answer is longer than ${mostBytes} bytes`);
    const read = reader.feed(chunk);
    if (read.is === "answer") resolve(read.lines);
    if (read.is === "error") fail(read.says);
  });
  socket.on("end", () => fail("it hung up before the end of its answer"));
  try {
    return await promise;
  } finally {
    signal?.removeEventListener("abort", abort);
    socket.destroy();
  }
}

function unreachable(path: string, cause: NodeJS.ErrnoException): CattailError {
  return new CattailError("BIRD_UNREACHABLE", {
    problem: `BIRD cannot be reached at ${path} (${cause.code ?? cause.message})`,
    next: cause.code === "EACCES" ? "run this as root" : "check that BIRD runs, and where its control socket is",
    cause,
  });
}

function badAnswer(path: string, problem: string): CattailError {
  return new CattailError("BIRD_ANSWER", {
    problem: `BIRD at ${path}: ${problem}`,
    next: "try the same with birdc, and look at BIRD's log",
  });
}

export type Read =
  | { readonly is: "more" }
  | { readonly is: "answer"; readonly lines: readonly BirdLine[] }
  | { readonly is: "error"; readonly says: string };

const more: Read = { is: "more" };

/** Bytes in, an answer out. */
export class AnswerReader {
  #rest = "";
  readonly #lines: BirdLine[] = [];
  #code = 0;

  feed(chunk: string): Read {
    this.#rest += chunk;
    for (let end = this.#rest.indexOf("\n"); end >= 0; end = this.#rest.indexOf("\n")) {
      const line = this.#rest.slice(0, end).replace(/\r$/, "");
      this.#rest = this.#rest.slice(end + 1);
      const read = this.#take(line);
      if (read.is !== "more") return read;
    }
    return more;
  }

  #take(line: string): Read {
    if (line.startsWith(" ") || line.startsWith("+")) {
      this.#lines.push({ code: this.#code, text: line.slice(1) });
      return more;
    }
    const [, digits, mark, text = ""] = /^(\d{4})(?:([ -])(.*))?$/s.exec(line) ?? [];
    if (digits === undefined) return { is: "error", says: `"${line.slice(0, 80)}" is no line of an answer` };
    const code = Number(digits);
    if (code >= 8000) return { is: "error", says: text };
    if (code === 1) return more; // the greeting
    this.#code = code;
    if (mark === "-") this.#lines.push({ code, text });
    else if (code !== 0) this.#lines.push({ code, text });
    return mark === "-" ? more : { is: "answer", lines: this.#lines };
  }
}
