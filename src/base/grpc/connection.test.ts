// gRPC calls against servers that behave, and that do not: what HTTP/2 servers, proxies and load balancers do.
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import {
  createServer as createHttp2Server,
  createSecureServer,
  type Http2SecureServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createSecureContext, createServer as createTlsServer } from "node:tls";
import { type LeafOptions, testAuthority } from "../../../test/kit/certificates.ts";
import { freePort } from "../../../test/kit/free-port.ts";
import { startProxy } from "../../../test/kit/proxy.ts";
import { askOnce, type GrpcCall, GrpcConnection, type GrpcOptions } from "./connection.ts";
import { frame } from "./frames.ts";
import { GrpcError } from "./status.ts";

const options: GrpcOptions = {
  serverName: "the archive",
  secureContext: undefined,
  keepaliveIntervalMs: 60_000,
  keepaliveTimeoutMs: 60_000,
  maxMessageBytes: 1 << 20,
};
const ok200 = { ":status": 200, "content-type": "application/grpc" };

async function serve(
  t: TestContext,
  answer: (stream: ServerHttp2Stream) => void,
  { host = "127.0.0.1", tls }: { host?: string; tls?: { cert: string; key: string } } = {},
): Promise<{ url: string; server: Http2Server | Http2SecureServer; sessions: Set<ServerHttp2Session> }> {
  const server = tls === undefined ? createHttp2Server() : createSecureServer(tls);
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => sessions.add(session));
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("error", () => undefined);
    answer(stream);
  });
  server.listen(0, host);
  await once(server, "listening");
  t.after(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { url: urlOf(server, tls === undefined ? "http" : "https", host), server, sessions };
}

function dial(t: TestContext, url: string, differs: Partial<GrpcOptions> = {}): GrpcConnection {
  const connection = new GrpcConnection(url, { ...options, ...differs });
  t.after(() => connection.close());
  return connection;
}

/** Answers with these messages and this status. */
function says(messages: string[], trailers: { [name: string]: string } = { "grpc-status": "0" }) {
  return (stream: ServerHttp2Stream) => {
    stream.respond(ok200, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    stream.end(Buffer.concat(messages.map((message) => frame(Buffer.from(message)))));
  };
}

const echo = (stream: ServerHttp2Stream) => {
  stream.respond(ok200, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.on("data", (chunk) => stream.write(chunk));
  stream.on("end", () => stream.end());
};

test("a question is answered, and the metadata goes with it", async (t) => {
  const { url, server } = await serve(t, echo);
  const seen = once(server, "stream");
  const call = dial(t, url).open("/service/Method", { hasleader: "true" });
  equal((await askOnce(call, Buffer.from("question"))).toString(), "question");
  const [, headers] = await seen;
  const { ":method": method, ":path": path, "content-type": type, te, hasleader } = headers;
  deepEqual([method, path, type, te, hasleader], ["POST", "/service/Method", "application/grpc", "trailers", "true"]);
});

const ends: { name: string; answer: (stream: ServerHttp2Stream) => void; code: number; says: RegExp }[] = [
  {
    name: "a status in the trailers",
    answer: says(["half an answer"], { "grpc-status": "14", "grpc-message": "no leader" }),
    code: 14,
    says: /^no leader$/,
  },
  {
    name: "a status in place of an answer, with a message beyond ASCII",
    answer: (stream) =>
      stream.respond({ ...ok200, "grpc-status": "7", "grpc-message": "nicht f%C3%BCr dich" }, { endStream: true }),
    code: 7,
    says: /^nicht für dich$/,
  },
  {
    name: "a message that is not encoded as it should be",
    answer: (stream) =>
      stream.respond({ ...ok200, "grpc-status": "13", "grpc-message": "100% wrong" }, { endStream: true }),
    code: 13,
    says: /^100% wrong$/,
  },
  {
    name: "a proxy that has nobody behind it",
    answer: (stream) => {
      stream.respond({ ":status": 503, "content-type": "text/html" });
      stream.end("");
    },
    code: 14,
    says: /HTTP status 503/,
  },
  {
    name: "an end without a status",
    answer: (stream) => {
      stream.respond(ok200);
      stream.end(frame(Buffer.from("answer")));
    },
    code: 14,
    says: /without a status/,
  },
  { name: "an end in good order without an answer", answer: says([]), code: 13, says: /the answer is empty/ },
  {
    name: "an answer that is too large, even if its status is good",
    answer: says(["x".repeat((1 << 20) + 1)]),
    code: 8,
    says: /larger than max/,
  },
];
for (const { name, answer, code, says: message } of ends) {
  test(`${name} is an error that says so`, async (t) => {
    const { url } = await serve(t, answer);
    const error = await askOnce(dial(t, url).open("/service/Method", {}), Buffer.alloc(0)).catch((e: unknown) => e);
    ok(error instanceof GrpcError, String(error));
    equal(error.code, code);
    match(error.message, message);
  });
}

test("a stream that is reset fails; others on the same connection do not notice", async (t) => {
  let count = 0;
  const { url } = await serve(t, (stream) => {
    count += 1;
    if (count === 1) stream.close(2);
    else echo(stream);
  });
  const connection = dial(t, url);
  await rejects(askOnce(connection.open("/service/Method", {}), Buffer.alloc(0)));
  equal(connection.isOpen, true);
  equal((await askOnce(connection.open("/service/Method", {}), Buffer.from("b"))).toString(), "b");
});

test("nobody there: the call says whom it could not reach, and the connection is over", async (t) => {
  const connection = dial(t, `http://127.0.0.1:${await freePort()}`);
  await rejects(askOnce(connection.open("/service/Method", {}), Buffer.alloc(0)), /ECONNREFUSED 127\.0\.0\.1/);
  equal(connection.isOpen, false);
});

test("given up before the other side has spoken, nothing stays: neither calls nor the socket", async (t) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.resume();
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const connection = dial(t, urlOf(server));
  const calls = [1, 2].map(() => askOnce(connection.open("/service/Method", {}), Buffer.alloc(0)));
  const failures = Promise.all(calls.map((call) => rejects(call, /never spoke/)));
  const [socket] = await once(server, "connection");
  const closed = once(socket, "close");
  connection.giveUp();
  await failures;
  await closed;
  equal(sockets.size, 0);
  equal(connection.isOpen, false);
});

test("given up when it works, it takes no new calls, and those that run go on", async (t) => {
  const { url } = await serve(t, echo);
  const connection = dial(t, url);
  const { call, next } = listenTo(connection.open("/service/Method", {}));
  call.write(Buffer.from("1"));
  equal(await next(), "1");
  connection.giveUp();
  equal(connection.isOpen, false);
  call.write(Buffer.from("2"));
  equal(await next(), "2");
  call.cancel();
});

test("the other side is going: what runs goes on, new calls need another connection", async (t) => {
  const { url, sessions } = await serve(t, echo);
  const connection = dial(t, url);
  const { call, next } = listenTo(connection.open("/service/Method", {}));
  call.write(Buffer.from("1"));
  equal(await next(), "1");
  for (const session of sessions) session.close();
  while (connection.isOpen) await sleep(5);
  call.write(Buffer.from("2"));
  equal(await next(), "2");
  call.cancel();
});

test("a connection that forgets to answer is found by a ping, and its calls fail", async (t) => {
  const { url } = await serve(t, echo);
  const proxy = await startProxy(Number(new URL(url).port));
  t.after(() => proxy[Symbol.asyncDispose]());
  const connection = dial(t, `http://127.0.0.1:${proxy.port}`, { keepaliveIntervalMs: 50, keepaliveTimeoutMs: 2_000 });
  const { call, next, ended } = listenTo(connection.open("/service/Method", {}));
  call.write(Buffer.from("1"));
  equal(await next(), "1");
  proxy.freeze();
  match(String(await ended), /did not answer a ping within 2000 ms/);
  equal(connection.isOpen, false);
});

test("without calls nobody is pinged: a server would take it for an attack", async (t) => {
  const { url, server } = await serve(t, echo);
  let pings = 0;
  server.on("session", (session: ServerHttp2Session) => session.on("ping", () => (pings += 1)));
  const connection = dial(t, url, { keepaliveIntervalMs: 20 });
  const { call, next } = listenTo(connection.open("/service/Method", {}));
  call.write(Buffer.from("1"));
  equal(await next(), "1");
  while (pings === 0) await sleep(5);
  call.cancel();
  // The last one may be on its way. With the interval above, one in 500 ms would be one of many.
  for (let before = -1; before !== pings; ) {
    before = pings;
    await sleep(500);
    ok(pings < 100, "pings go on without calls");
  }
});

test("what is not taken is not sent: a paused call holds the other side back", async (t) => {
  let sent = 0;
  const { url } = await serve(t, (stream) => {
    stream.respond(ok200);
    const message = frame(Buffer.alloc(64 << 10));
    const more = () => {
      while (sent < 1000 && stream.writable) {
        sent += 1;
        if (!stream.write(message)) return void stream.once("drain", more);
      }
    };
    more();
  });
  const { call, heard } = listenTo(dial(t, url).open("/service/Method", {}));
  while (heard.length === 0) await sleep(5);
  call.pause();
  await sleep(200);
  const held = sent;
  ok(held < 900, `${held} of 1000 messages were sent to somebody who takes none`);
  call.resume();
  while (heard.length < 1000) await sleep(5);
});

test("an end that came before anybody listened is heard all the same", async (t) => {
  const { url } = await serve(t, (stream) => stream.close(2));
  const call = dial(t, url).open("/service/Method", {});
  call.write(Buffer.alloc(0));
  await sleep(50);
  const { ended } = listenTo(call);
  ok((await ended) instanceof Error);
});

const identities: {
  name: string;
  host: string;
  names: NonNullable<LeafOptions["names"]>;
  isOther?: boolean;
  fails?: RegExp;
}[] = [
  { name: "its address is in the certificate", host: "127.0.0.1", names: {} },
  { name: "its name is in the certificate", host: "localhost", names: {} },
  { name: "only another address is", host: "127.0.0.1", names: { ipSans: ["192.0.2.1"] }, fails: /127\.0\.0\.1/ },
  { name: "only another name is", host: "localhost", names: { dnsSans: ["server-1"] }, fails: /localhost/ },
  { name: "another CA signed it", host: "127.0.0.1", names: {}, isOther: true, fails: /certificate/ },
];
for (const { name, host, names, isOther, fails } of identities) {
  test(`a server is ${fails === undefined ? "believed" : "refused"} where ${name}`, async (t) => {
    const authority = testAuthority();
    const { certPem: cert, keyPem: key } = authority.server({ names });
    const { url } = await serve(t, echo, { host, tls: { cert, key } });
    const ca = (isOther === true ? testAuthority("Another CA") : authority).pair.certPem;
    const connection = dial(t, url, { secureContext: createSecureContext({ ca }) });
    const answer = askOnce(connection.open("/service/Method", {}), Buffer.from("a"));
    if (fails === undefined) equal((await answer).toString(), "a");
    else await rejects(answer, fails);
  });
}

const authority = testAuthority();
const { certPem: cert, keyPem: key } = authority.server();
const hangUp = (socket: Socket) => void socket.on("error", () => undefined).destroy();
const strangers: { name: string; server: () => Server; scheme: "http" | "https"; says: RegExp }[] = [
  {
    name: "a web server",
    server: () => createHttpServer((_, response) => response.end()),
    scheme: "http",
    says: /^http:\/\/127\.0\.0\.1:\d+: Protocol error: .* does not speak gRPC as the archive does; check the port$/,
  },
  {
    name: "a web server with TLS",
    server: () => createHttpsServer({ cert, key }, (_, response) => response.end()),
    scheme: "https",
    says: /^https:\S+: tlsv1 alert no application protocol: .* does not speak gRPC as the archive does; check the port$/,
  },
  {
    name: "a server that wants TLS, which it was not offered",
    server: () => createTlsServer({ cert, key, ALPNProtocols: ["h2"] }),
    scheme: "http",
    says: /^http:\S+: the connection was closed before a word was said: .*client port, and does it want https:\/\/\?$/,
  },
  {
    name: "a server without TLS, which it was offered",
    server: () => createHttpServer((_, response) => response.end()),
    scheme: "https",
    says: /^https:\S+: wrong version number: .* does not speak TLS; check the port, or write http:\/\/$/,
  },
  {
    name: "a server that wants to know who we are",
    server: () =>
      createTlsServer({ cert, key, ca: authority.pair.certPem, requestCert: true, ALPNProtocols: ["h2"] }, hangUp),
    scheme: "https",
    // Having said so it hangs up, and what we say meanwhile may turn that into a reset, which overtakes its words.
    says: /^https:\S+: (tlsv13 alert certificate required: it wants a client certificate and got none|the connection was closed before a word was said)$/,
  },
  {
    name: "one that hangs up",
    server: () => createServer(hangUp),
    scheme: "https",
    says: /^https:\S+: (the connection was closed before a word was said|Client network socket disconnected .*)$/,
  },
];
for (const { name, server: make, scheme, says: message } of strangers) {
  test(`${name} is named with its address and what to do`, async (t) => {
    const server = make();
    const sockets = new Set<Socket>();
    server.on("connection", (socket) => sockets.add(socket));
    server.on("tlsClientError", () => undefined);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const secureContext = scheme === "https" ? createSecureContext({ ca: authority.pair.certPem }) : undefined;
    const connection = dial(t, urlOf(server, scheme), { secureContext });
    await rejects(askOnce(connection.open("/service/Method", {}), Buffer.alloc(0)), { code: 14, message });
    equal(connection.isOpen, false);
  });
}

function listenTo(call: GrpcCall) {
  const heard: string[] = [];
  const ended = Promise.withResolvers<unknown>();
  let wake: () => void = () => undefined;
  call.listen({
    message: (bytes) => {
      heard.push(bytes.toString());
      wake();
    },
    end: ended.resolve,
  });
  const next = async () => {
    while (heard.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return heard.shift();
  };
  return { call, heard, next, ended: ended.promise };
}

function urlOf(server: { address(): string | AddressInfo | null }, scheme = "http", host = "127.0.0.1"): string {
  return `${scheme}://${host}:${(server.address() as AddressInfo).port}`; // a TCP server's address has a port
}
