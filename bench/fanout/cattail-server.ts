// Our server as a process of its own, fed the same lines on standard input as test/peers/typha/server: one JSON object each,
// {"syncer"?, "kvs"?: [{key, value, revision, v3rv, type}], "status"?}. Prints {"listening": port} once it listens.
//   node cattail-server.ts [--workers N] [--ca FILE --cert FILE --key FILE]
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { tlsPolicy } from "../../src/base/security/index.ts";
import { type KvUpdate, type SyncStatus, syncerTypes, type UpdateType } from "../../src/calico/model/index.ts";
// Past the door of src/typha/server: through it the whole pipeline would come along, and be measured.
import { startServer } from "../../src/typha/server/serve.ts";

type Line = {
  syncer?: (typeof syncerTypes)[number];
  kvs?: { key: string; value: string | null; revision: string; v3rv: string; type: UpdateType }[];
  status?: SyncStatus;
};

const { values: flags } = parseArgs({
  options: {
    workers: { type: "string" },
    ca: { type: "string" },
    cert: { type: "string" },
    key: { type: "string" },
  },
});
const { ca, cert, key } = flags;
const material =
  ca !== undefined && cert !== undefined && key !== undefined
    ? { ca: readFileSync(ca, "utf8"), cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") }
    : undefined;
const server = await startServer({
  listen: { host: "127.0.0.1", port: 0 },
  leastLogged: "error", // as the others are told (against.ts)
  ...(flags.workers === undefined ? {} : { workers: Number(flags.workers) }),
  ...(material === undefined
    ? {}
    : { tls: { material, policy: tlsPolicy(), requirement: { commonName: "calico-node" } } }),
});
console.log(JSON.stringify({ listening: `127.0.0.1:${server.address.port}` }));

for await (const text of createInterface(process.stdin)) {
  const line = JSON.parse(text) as Line; // written by load.ts, or by a test
  const updates = (line.kvs ?? []).map(
    ({ key: path, value, revision, v3rv, type }): KvUpdate => ({
      path,
      value: value ?? undefined,
      revision,
      v3ResourceVersion: v3rv,
      type,
    }),
  );
  const status = line.status === undefined ? {} : { status: line.status };
  for (const syncer of line.syncer === undefined ? syncerTypes : [line.syncer]) {
    server.apply({ syncer, updates, ...status });
  }
}
await server[Symbol.asyncDispose]();
