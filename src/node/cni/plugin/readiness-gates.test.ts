// Gates that answer, that do not, and that stand at ports which browsers keep away from.
import { equal, match, rejects } from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { systemClock } from "../../../base/lib/index.ts";
import { waitForGates } from "./readiness-gates.ts";

const once0 = { clock: systemClock, limitMs: 0 };

async function gate(answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const rows: { name: string; answer: RequestListener; closed?: RegExp }[] = [
  { name: "open", answer: (_, response) => response.writeHead(204).end() },
  { name: "open, and never at an end of its answer", answer: (_, response) => void response.writeHead(200).write("x") },
  { name: "closed", answer: (_, response) => response.writeHead(503).end(), closed: /it answered with 503/ },
  {
    name: "somewhere else, where it is open",
    answer: ({ url }, response) =>
      url === "/other" ? response.end() : response.writeHead(302, { location: "/other" }).end(),
  },
  {
    name: "somewhere else, where it is closed",
    answer: ({ url }, response) =>
      url === "/other" ? response.writeHead(500).end() : response.writeHead(307, { location: "/other" }).end(),
    closed: /it answered with 500/,
  },
  {
    name: "elsewhere for ever",
    answer: (_, response) => response.writeHead(301, { location: "/" }).end(),
    closed: /stopped after 10 redirects/,
  },
  { name: "not changed", answer: (_, response) => response.writeHead(304).end() },
];
for (const { name, answer, closed } of rows)
  test(`a gate that is ${name}`, async () => {
    await using at = await gate(answer);
    if (closed === undefined) await waitForGates([at.url], once0);
    else await rejects(waitForGates([at.url], once0), { message: closed });
  });

test("a gate may be at a port that fetch refuses", async () => {
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.end();
  });
  // One of them is free on every machine; in their place nobody else would answer with nothing.
  for (const port of [10_080, 6_000, 6_566, 6_665, 6_666, 6_667, 6_668, 6_669, 6_697, 4_045, 4_190, 5_060, 5_061]) {
    const isOurs = await new Promise<boolean>((resolve) =>
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true)),
    );
    if (!isOurs) continue;
    await rejects(fetch(`http://127.0.0.1:${port}/`), (error: Error) => /bad port/.test(String(error.cause)));
    await waitForGates([`http://127.0.0.1:${port}/`], once0);
    break;
  }
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  equal(asked, 1);
});

test("nobody there, and what is no URL", async () => {
  await rejects(waitForGates(["http://127.0.0.1:9/"], once0), {
    message: /readiness gate http:\/\/127.0.0.1:9\/: .*REFUSED/,
  });
  await rejects(waitForGates(["tcp://127.0.0.1:9"], once0), { message: /^invalid URL set for ReadinessGates:tcp:/ });
});

test("who has lost patience is not kept", async () => {
  await using at = await gate(() => undefined);
  const stop = new AbortController();
  const waiting = waitForGates([at.url], { ...once0, signal: stop.signal });
  stop.abort(new Error("enough"));
  match(String(await waiting.catch((error: unknown) => error)), /enough/);
});
