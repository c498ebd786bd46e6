import { deepEqual, equal, match } from "node:assert/strict";
import { type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { createServer } from "node:net";
import { test } from "node:test";
import { canListen, freePort } from "../../../../test/kit/free-port.ts";
import { recordLog } from "../../../../test/kit/recorded-log.ts";
import { silentLog, systemClock } from "../../lib/index.ts";
import { type HttpOptions, startHttp } from "./http-server.ts";

const base: HttpOptions = {
  name: "test",
  host: "localhost",
  port: 0,
  routes: {
    "/hello": (_, response) => void response.end("hi"),
    "/below/*": (_, response, url) => void response.end(url.pathname),
  },
  clock: systemClock,
  log: silentLog,
  signal: new AbortController().signal,
};

type Asked = { path: string; host?: string; method?: string; address?: string };

async function ask(options: Partial<HttpOptions>, asked: Asked): Promise<{ status: number; body: string }> {
  await using server = startHttp({ ...base, ...options });
  await server.listening;
  const port = server.addresses[0]?.port;
  return await new Promise((resolve, reject) => {
    const sent = request(
      {
        host: asked.address ?? "127.0.0.1",
        port,
        path: asked.path,
        method: asked.method ?? "GET",
        headers: { host: asked.host ?? "localhost" },
      },
      async (response) =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(await response.toArray()).toString() }),
    );
    sent.on("error", reject);
    sent.end();
  });
}

const guard = { hosts: [] };

/** Asked at 127.0.0.1 of a server on all interfaces, unless an address is given. */
const ownNames: { name: string; hosts?: string[]; host: string; address?: string; status: number }[] = [
  { name: "the address that was reached is its name", host: "127.0.0.9:6060", address: "127.0.0.9", status: 200 },
  { name: "another address is not", host: "127.0.0.9:6060", status: 403 },
  { name: "an IPv6 address is its name", host: "[::1]:6060", address: "::1", status: 200 },
  { name: "an IPv6 address may be long", host: "[0:0::0:1]", address: "::1", status: 200 },
  { name: "another IPv6 address is not its name", host: "[fd00::5]:6060", address: "::1", status: 403 },
  { name: "an allowed IPv6 address is asked for in brackets", hosts: ["FD00::5"], host: "[fd00::5]:6060", status: 200 },
  { name: "an IPv4 address inside IPv6 is the same", hosts: ["10.0.0.5"], host: "[::ffff:10.0.0.5]:1", status: 200 },
  { name: "a name that begins like the address is foreign", host: "127.0.0.1.evil.example", status: 403 },
  { name: "a Host of several colons is foreign", host: "127.0.0.1:1:2", status: 403 },
  { name: "brackets around a name that is allowed change nothing", host: "[evil.example]", status: 403 },
  { name: "what is no address at all is foreign", host: "[::1::2]", status: 403 },
];
const cases: { name: string; options: Partial<HttpOptions>; asked: Asked; status: number }[] = [
  { name: "a route answers", options: {}, asked: { path: "/hello" }, status: 200 },
  { name: "a query does not change the route", options: {}, asked: { path: "/hello?x=1" }, status: 200 },
  { name: "a route that ends in /* takes what is below it", options: {}, asked: { path: "/below/a/b" }, status: 200 },
  { name: "another path is not found", options: {}, asked: { path: "/other" }, status: 404 },
  { name: "a name every object has is no route", options: {}, asked: { path: "/__proto__" }, status: 404 },
  {
    name: "without a guard any method and host will do",
    options: {},
    asked: { path: "/hello", method: "POST", host: "x" },
    status: 200,
  },
  {
    name: "with a guard a foreign Host is refused",
    options: { guard },
    asked: { path: "/hello", host: "evil.example" },
    status: 403,
  },
  {
    name: "with a guard a Host with a port is looked at without it",
    options: { guard },
    asked: { path: "/hello", host: "localhost:1234" },
    status: 200,
  },
  {
    name: "with a guard an allowed Host may ask",
    options: { guard: { hosts: ["kettle.example"] } },
    asked: { path: "/hello", host: "kettle.example" },
    status: 200,
  },
  {
    name: "with a guard nothing can be written",
    options: { guard },
    asked: { path: "/hello", method: "POST" },
    status: 405,
  },
  ...ownNames.map(({ name, hosts = [], host, address, status }) => ({
    name: `with a guard ${name}`,
    options: { guard: { hosts }, host: "" },
    asked: { path: "/hello", host, ...(address === undefined ? {} : { address }) },
    status,
  })),
  { name: "localhost is both families", options: {}, asked: { path: "/hello", address: "::1" }, status: 200 },
];
for (const { name, options, asked, status } of cases) {
  const { address = "127.0.0.1" } = asked;
  const skip = (await canListen({ port: 0, host: address })) ? false : `this machine has no ${address}`;
  test(`http: ${name}`, { skip }, async () => equal((await ask(options, asked)).status, status));
}

test("http: a handler that throws is a 500 that does not say why", async () => {
  const routes = { "/x": () => Promise.reject(new Error("secret")) };
  const { status, body } = await ask({ routes }, { path: "/x" });
  equal(status, 500);
  match(body, /log says why/);
});

test("http: an error of a server that listens is a line in the log, and not the end of the process", async () => {
  const { log, lines } = recordLog();
  const routes = {
    "/x": (request: IncomingMessage, response: ServerResponse) => {
      const server = Reflect.get(request.socket, "server") as Server; // as Node tells of a failed accept
      for (let i = 0; i < 3; i++) server.emit("error", new Error("accept EMFILE"));
      response.end();
    },
  };
  equal((await ask({ routes, log }, { path: "/x" })).status, 200);
  deepEqual(
    lines.filter(({ level }) => level === "error"),
    [{ level: "error", message: "HTTP server has a problem", fields: { server: "test", problem: "accept EMFILE" } }],
  );
});

test("http: a port that is taken is tried again until it is free", async () => {
  const holder = createServer().listen(await freePort(), "127.0.0.1");
  await new Promise((resolve) => holder.once("listening", resolve));
  const address = holder.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const clock = { ...systemClock, sleep: () => new Promise<void>((resolve) => holder.close(() => resolve())) };
  await using server = startHttp({ ...base, host: "127.0.0.1", port, clock });
  await server.listening;
  equal(server.addresses[0]?.port, port);
});
