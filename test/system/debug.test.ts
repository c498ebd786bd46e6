// The debug address of a server with clients: every question has its answer, and nobody else is answered.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { request } from "node:http";
import { after, before, describe, test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { createMemoryDatastore } from "../../src/calico/datastore/index.ts";
import { PretendCluster } from "../../src/programs/demo/index.ts";
import { follow } from "../../src/typha/client/index.ts";
import { startTypha, type Typha } from "../../src/typha/server/index.ts";
import { loadSettings } from "../../src/typha/settings/index.ts";
import { eventually } from "../kit/eventually.ts";
import { freePort } from "../kit/free-port.ts";

type Answer = { status: number; body: unknown };

describe("the debug address", () => {
  const ending = new AbortController();
  const resources = new AsyncDisposableStack();
  let typha: Typha;
  let address: string;

  before(async () => {
    const datastore = resources.use(createMemoryDatastore());
    const cluster = new PretendCluster({
      nodes: 3,
      pods: 30,
      churn: 0,
      datastore,
      clock: systemClock,
      random: () => 0.5,
    });
    await cluster.populate();
    const environment = {
      TYPHA_DATASTORETYPE: "memory",
      TYPHA_SERVERHOST: "127.0.0.1",
      TYPHA_SERVERPORT: String(await freePort()),
      TYPHA_WORKERS: "0",
      TYPHA_HEALTHENABLED: "false",
      TYPHA_DEBUGPORT: String(await freePort()),
      ETCD_PASSWORD: "hunter2",
    };
    typha = resources.use(
      await startTypha({
        read: loadSettings({ environment, configFile: "" }),
        datastore,
        log: silentLog,
        version: "test",
        signal: ending.signal,
      }),
    );
    address = typha.httpAddresses.debug ?? "";
    const servers = `127.0.0.1:${typha.server.address.port}`;
    void drain(follow({ servers, type: "felix", hostname: "node-002", version: "v9", signal: ending.signal }));
    await eventually(
      async () => (await typha.server.clients()).some(({ position, phase }) => phase === "streaming" && position > 0),
      "a client",
    );
    await eventually(() => typha.health.summary().ready, "the caches in sync");
  });
  after(async () => {
    ending.abort();
    await resources.disposeAsync();
  });

  const ask = (path: string, headers: { [name: string]: string } = {}, method = "GET") =>
    askHttp(address, path, { headers, method });

  test("/clients says who is connected, with which features, and how far behind", async () => {
    const { status, body } = await ask("/clients");
    equal(status, 200);
    const clients = body as { [field: string]: unknown }[];
    const client = clients.find(({ node }) => node === "node-002");
    equal(client?.syncer, "felix");
    equal(client?.version, "v9");
    deepEqual(Object.keys(client?.features ?? {}), ["compression", "policyKeys", "restartsDecoder"]);
    match(String(client?.connectedSince), /^\d{4}-\d\d-\d\dT/);
    for (const field of ["position", "lagUpdates", "lagMs", "bytesSent", "queuedBytes"]) {
      equal(typeof client?.[field], "number", field);
    }
  });

  test("/keys?prefix= lists keys in order with revision, size and time of change", async () => {
    const { body } = await ask("/keys?prefix=/calico/resources/v3/projectcalico.org/nodes/");
    const { total, keys } = body as { total: number; keys: { [field: string]: unknown }[] };
    equal(total, 3);
    deepEqual(
      keys.map(({ key }) => String(key).split("/").at(-1)),
      ["node-001", "node-002", "node-003"],
    );
    equal(keys[0]?.kind, "Node");
    ok(Number(keys[0]?.size) > 0);
    ok(String(keys[0]?.revision) !== "");
    match(String(keys[0]?.changed), /^\d{4}-/);
  });

  test("/keys is searched, narrowed by kind and paged", async () => {
    const count = async (query: string) => (await ask(`/keys?${query}`)).body as { total: number; keys: unknown[] };
    const all = await count("kind=WorkloadEndpoint");
    ok(all.total >= 30);
    equal((await count("kind=WorkloadEndpoint&limit=7&offset=2")).keys.length, 7);
    const found = await count("kind=WorkloadEndpoint&search=NODE-001");
    ok(found.total > 0 && found.total < all.total);
    equal((await count("search=there-is-no-such-thing")).total, 0);
    equal((await ask("/keys?syncer=nonsense")).status, 400);
    equal((await ask("/keys?limit=-1")).status, 400);
  });

  test("/keys/{path} gives the value as JSON, with its history and trace", async () => {
    const listed = await ask("/keys?kind=WorkloadEndpoint&limit=1");
    const path = (listed.body as { keys: { key: string }[] }).keys[0]?.key ?? "";
    for (const asked of [path, encodeURIComponent(path), `/${encodeURIComponent(path.slice(1))}`]) {
      const { status, body } = await ask(`/keys${asked.startsWith("/") ? "" : "/"}${asked}`);
      equal(status, 200, asked);
      const detail = body as { [field: string]: unknown };
      equal(detail.key, path);
      equal(typeof (detail.value as { name: string }).name, "string");
      const trace = detail.trace as { [field: string]: unknown };
      match(String(trace.received), /^\d{4}-/);
      match(String(trace.cached), /^\d{4}-/);
      equal((detail.history as { change: string }[])[0]?.change, "new");
    }
    equal((await ask("/keys/calico/v1/nothing")).status, 404);
    equal((await ask("/keys/%")).status, 404);
  });

  test("/watches says what each kind's watch is doing", async () => {
    const podsNow = async () =>
      ((await ask("/watches")).body as { [field: string]: unknown }[]).find(({ kind }) => kind === "Pod");
    // In sync is said when the list is complete; the watch is opened half a second after the list was.
    await eventually(async () => (await podsNow())?.state === "watching", "the watch of pods");
    const pods = await podsNow();
    equal(pods?.objects, 30);
    equal(pods?.restarts, 0);
    equal(pods?.lastError, null);
  });

  test("/certs says that TLS is off where it is", async () => deepEqual((await ask("/certs")).body, { tls: "off" }));

  test("/settings shows every value and where it comes from, but no secret", async () => {
    const { body } = await ask("/settings");
    ok(!JSON.stringify(body).includes("hunter2"));
    const settings = body as { name: string; value: string; origin: { from: string } }[];
    equal(settings.find(({ name }) => name === "TYPHA_WORKERS")?.origin.from, "environment");
  });

  const refused: {
    name: string;
    path: string;
    headers?: { [name: string]: string };
    method?: string;
    status: number;
  }[] = [
    { name: "a foreign Host (DNS rebinding)", path: "/clients", headers: { host: "evil.example" }, status: 403 },
    { name: "a method that would change something", path: "/clients", method: "POST", status: 405 },
    { name: "what is not there", path: "/secrets", status: 404 },
  ];
  for (const { name, path, headers, method, status } of refused) {
    test(`it refuses ${name}`, async () => equal((await ask(path, headers, method)).status, status));
  }

  test("it listens on the loopback only", () => match(address, /^(127\.0\.0\.1|\[::1\]):/));
});

function askHttp(address: string, path: string, options: { headers: object; method: string }): Promise<Answer> {
  const { hostname, port } = new URL(`http://${address}`);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const host = hostname.replace(/^\[|\]$/g, "");
  const { method } = options;
  const asked = request(
    { host, port, path, method, headers: { host: "localhost", ...options.headers } },
    (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        text += part;
      });
      response.on("end", () => {
        const isJson = response.headers["content-type"]?.startsWith("application/json") === true;
        resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : text });
      });
    },
  );
  asked.on("error", reject);
  asked.end();
  return promise;
}

async function drain(updates: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of updates);
}

const hosts: { host: string | undefined; isWarnedOf: boolean }[] = [
  { host: undefined, isWarnedOf: false },
  { host: "localhost", isWarnedOf: false },
  { host: "127.0.0.1", isWarnedOf: true }, // as in the original: only the word itself is beyond doubt
];
for (const { host, isWarnedOf } of hosts) {
  test(`a debug address on ${host ?? "the default"} ${isWarnedOf ? "is warned of" : "needs no warning"}`, async () => {
    const ending = new AbortController();
    const warnings: string[] = [];
    const environment = {
      TYPHA_DATASTORETYPE: "memory",
      TYPHA_SERVERHOST: "127.0.0.1",
      TYPHA_SERVERPORT: String(await freePort()),
      TYPHA_WORKERS: "0",
      TYPHA_DEBUGPORT: String(await freePort()),
      ...(host === undefined ? {} : { TYPHA_DEBUGHOST: host }),
    };
    const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
    await using _ = await startTypha({
      read: loadSettings({ environment, configFile: "" }),
      log,
      version: "test",
      signal: ending.signal,
    });
    equal(warnings.filter((warning) => /debug pages/.test(warning)).length, isWarnedOf ? 1 : 0);
  });
}
