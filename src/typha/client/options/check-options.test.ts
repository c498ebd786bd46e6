import { equal, match, ok, rejects, throws } from "node:assert/strict";
import { test } from "node:test";
import { CattailError } from "../../../base/lib/index.ts";
import { type FollowOptions, follow, Snapshot } from "../index.ts";

const servers = "127.0.0.1:1";
const tls = { caFile: "ca", certFile: "cert", keyFile: "key", server: { commonName: "calico-typha" } };

/** As from plain JavaScript. */
const loosely = (options: unknown) => options as FollowOptions; // what the table is for

async function refusalOf(options: unknown): Promise<CattailError> {
  const error: unknown = await follow(loosely(options))
    .next()
    .catch((e: unknown) => e);
  ok(error instanceof CattailError, String(error));
  equal(error.code, "CLIENT_OPTION_INVALID", error.message);
  return error;
}

const refusals: { name: string; options: unknown; problem: RegExp; next: RegExp }[] = [
  { name: "no options", options: undefined, problem: /^the argument is undefined$/, next: /an object with "servers"/ },
  { name: "an address alone", options: servers, problem: /^the argument is "127/, next: /an object with "servers"/ },
  { name: "no servers", options: {}, problem: /^servers is undefined$/, next: /"HOST:PORT", a list.*discovery/ },
  { name: "an empty list of servers", options: { servers: [] }, problem: /^servers is \[\]$/, next: /at least one/ },
  { name: "a port for servers", options: { servers: 5473 }, problem: /^servers is 5473$/, next: /"HOST:PORT"/ },
  { name: "a list of ports", options: { servers: [5473] }, problem: /^servers is \[5473\]$/, next: /"HOST:PORT"/ },
  {
    name: "a type that is none",
    options: { servers, type: "nonsense" },
    problem: /^type is "nonsense"$/,
    next: /^type has to be "felix" or "bgp" or "tunnel-ip-allocation" or "node-status"$/,
  },
  { name: "null", options: { servers, type: null }, problem: /^type is null$/, next: /"felix"/ },
  {
    name: "a signal's controller",
    options: { servers, signal: new AbortController() },
    problem: /^signal is an object of the class AbortController$/,
    next: /signal$/,
  },
  { name: "a number as hostname", options: { servers, hostname: 7 }, problem: /^hostname is 7$/, next: /a string/ },
  {
    name: "an unknown compression",
    options: { servers, compression: ["gzip"] },
    problem: /^compression is \["gzip"\]$/,
    next: /"zstd" and "snappy"/,
  },
  {
    name: "compression that is no list",
    options: { servers, compression: "zstd" },
    problem: /^compression is "zstd"$/,
    next: /a list/,
  },
  {
    name: "unknown policy keys",
    options: { servers, policyKeys: "old" },
    problem: /^policyKeys is "old"$/,
    next: /"modern" or "legacy"/,
  },
  ...[Number.NaN, 0, -1, Number.POSITIVE_INFINITY, 2 ** 31, "1000"].map((readTimeoutMs) => ({
    name: `a timeout of ${JSON.stringify(readTimeoutMs)} (${readTimeoutMs})`,
    options: { servers, readTimeoutMs },
    problem: /^readTimeoutMs is /,
    next: /milliseconds, more than 0 and at most 2147483647$/,
  })),
  ...[Number.NaN, 0, -1, 1.5, "3"].map((maxFailures) => ({
    name: `at most ${JSON.stringify(maxFailures)} (${maxFailures}) failures`,
    options: { servers, maxFailures },
    problem: /^maxFailures is /,
    next: /a whole number from 1, or Infinity$/,
  })),
  {
    name: "a log that is a function",
    options: { servers, log: () => undefined },
    problem: /^log is a function$/,
    next: /debug, info, warn, error/,
  },
  { name: "a seed for chance", options: { servers, random: 4 }, problem: /^random is 4$/, next: /a function/ },
  {
    name: "a clock without sleep",
    options: { servers, clock: { wallMs: Date.now } },
    problem: /^clock is an object$/,
    next: /sleep/,
  },
  {
    name: "tls that is only switched on",
    options: { servers, tls: true },
    problem: /^tls is true$/,
    next: /caFile, certFile, keyFile and server/,
  },
  {
    name: "half of tls",
    options: { servers, tls: { caFile: "ca", server: tls.server } },
    problem: /^tls.certFile is undefined; tls.keyFile is undefined$/,
    next: /^tls.certFile has to be the path of a file; tls.keyFile has to be the path of a file$/,
  },
  {
    name: "tls without the server's name",
    options: { servers, tls: { ...tls, server: undefined } },
    problem: /^tls.server is undefined$/,
    next: /commonName or the uriSan/,
  },
  {
    name: "a misspelt name of the server",
    options: { servers, tls: { ...tls, server: { cn: "x" } } },
    problem: /^tls.server is an object$/,
    next: /commonName or the uriSan/,
  },
  {
    name: "an option that nearly is one",
    options: { servers, readTimeout: 1000 },
    problem: /^there is no readTimeout$/,
    next: /^write readTimeoutMs for readTimeout \(there are servers, type, tls, /,
  },
  {
    name: "an option that is nothing like one",
    options: { servers, zzzzzz: 1 },
    problem: /^there is no zzzzzz$/,
    next: /^leave out zzzzzz \(there are servers, /,
  },
  {
    name: "a misspelt name within tls, and what is missing for it",
    options: { servers, tls: { ...tls, keyFile: undefined, keyfile: "key" } },
    problem: /^there is no tls.keyfile; tls.keyFile is undefined$/,
    next: /^write tls.keyFile for tls.keyfile \(there are caFile, certFile, keyFile, server\); tls.keyFile has to be/,
  },
  {
    name: "a key's bytes for its path",
    options: { servers, tls: { ...tls, keyFile: Buffer.from("secret") } },
    problem: /^tls.keyFile is an object of the class Buffer$/,
    next: /path/,
  },
  {
    name: "a key's text for its path, which is not shown",
    options: { servers, tls: { ...tls, keyFile: "-----BEGIN PRIVATE KEY-----\nsecret\n" } },
    problem: /^tls.keyFile is "-----BEGIN PRIVATE KEY-----…"$/,
    next: /path/,
  },
  {
    name: "a discovery that answers text",
    options: { servers: async () => servers },
    problem: /^what the discovery answers is "127.0.0.1:1"$/,
    next: /a list of \{ host, port \}/,
  },
  {
    name: "a discovery with a port that is text",
    options: { servers: async () => [{ host: "127.0.0.1", port: "1" }] },
    problem: /^the discovery's \[0\].port is "1"$/,
    next: /a whole number from 1 to 65535/,
  },
];
for (const { name, options, problem, next } of refusals) {
  test(`follow() refuses ${name}, and says what may be there`, async () => {
    const error = await refusalOf(options);
    match(error.problem, problem);
    match(error.next, next);
  });
}

test("follow() lists everything wrong in one error", async () => {
  match(
    (await refusalOf({ type: "x", maxFailures: 0 })).problem,
    /^servers is undefined; type is "x"; maxFailures is 0$/,
  );
});

const accepted: { name: string; options: unknown }[] = [
  { name: "what is undefined is as if it were not given", options: { servers, type: undefined, tls: undefined } },
  { name: "no compression", options: { servers: [servers], compression: [] } },
  { name: "no limit to failures", options: { servers, maxFailures: Number.POSITIVE_INFINITY } },
  { name: "the console as log", options: { servers, log: console } },
  { name: "a server known by its URI SAN", options: { servers, tls: { ...tls, server: { uriSan: "spiffe://x" } } } },
];
for (const { name, options } of accepted) {
  test(`follow() takes ${name}`, async () => {
    const signal = AbortSignal.abort();
    equal((await follow({ ...loosely(options), signal }).next()).done, true); // ended before it dialled
  });
}

test("an address that is none keeps its own code", async () => {
  await rejects(follow({ servers: "" }).next(), { code: "CLIENT_ADDRESS" });
});

test("Snapshot.open() refuses at once", () => {
  throws(() => Snapshot.open(loosely({ servers, type: "nonsense" })), { code: "CLIENT_OPTION_INVALID" });
  throws(() => Snapshot.open(loosely(undefined)), { code: "CLIENT_OPTION_INVALID" });
  throws(() => Snapshot.open({ servers: "http://x:5473" }), { code: "CLIENT_ADDRESS" });
});
