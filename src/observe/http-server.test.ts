import { equal, match } from "node:assert/strict";
import { request } from "node:http";
import { createServer } from "node:net";
import { test } from "node:test";
import { freePort } from "../../test/kit/free-port.ts";
import { silentLog, systemClock } from "../lib/index.ts";
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
    options: { guard: { hosts: ["typha.example"] } },
    asked: { path: "/hello", host: "typha.example" },
    status: 200,
  },
  {
    name: "with a guard nothing can be written",
    options: { guard },
    asked: { path: "/hello", method: "POST" },
    status: 405,
  },
  { name: "localhost is both families", options: {}, asked: { path: "/hello", address: "::1" }, status: 200 },
];
for (const { name, options, asked, status } of cases) {
  test(`http: ${name}`, async () => equal((await ask(options, asked)).status, status));
}

test("http: a handler that throws is a 500 that does not say why", async () => {
  const routes = { "/x": () => Promise.reject(new Error("secret")) };
  const { status, body } = await ask({ routes }, { path: "/x" });
  equal(status, 500);
  match(body, /log says why/);
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
