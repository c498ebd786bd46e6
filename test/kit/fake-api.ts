// An HTTP server that answers as a test says, for what a real API server will not do on request: redirects, half events,
// endless lines, refusals with a date to come back.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type FakeAnswer = {
  status?: number;
  headers?: { [name: string]: string };
  /** An object is sent as JSON; pieces are written one by one, each in its own turn. */
  body?: object | string | string[];
  /** What happens after the body; "never": not even headers are sent. */
  after?: "end" | "hang" | "cut" | "never";
};

export type FakeApi = AsyncDisposable & { readonly url: string; readonly asked: string[] };

/** Answers requests in the order of the list; the last answer is given again and again. */
export async function startFakeApi(
  answers: (FakeAnswer | ((request: IncomingMessage) => FakeAnswer))[],
): Promise<FakeApi> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? {};
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? "-"}`);
    request.resume();
    void send(response, typeof answer === "function" ? answer(request) : answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    asked,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function send(response: ServerResponse, { status = 200, headers = {}, body = {}, after = "end" }: FakeAnswer) {
  if (after === "never") return;
  response.writeHead(status, { "content-type": "application/json", ...headers });
  const pieces = Array.isArray(body) ? body : [typeof body === "string" ? body : JSON.stringify(body)];
  for (const piece of pieces) {
    response.write(piece);
    await new Promise(setImmediate);
  }
  if (after === "end") response.end();
  if (after === "cut") response.destroy();
}
