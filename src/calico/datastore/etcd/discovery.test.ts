// A domain's records become endpoints, and what cannot be found is said with what to look at.
import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { endpointsOfDomain } from "./discovery.ts";

type Records = { readonly [name: string]: readonly { name: string; port: number }[] };
const one = [{ name: "one.test", port: 2379 }];
const rows: { name: string; records: Records; is: string[] }[] = [
  {
    name: "with TLS first, then without",
    records: { "_etcd-client._tcp.d": [{ name: "two.test", port: 4001 }], "_etcd-client-ssl._tcp.d": one },
    is: ["https://one.test:2379", "http://two.test:4001"],
  },
  { name: "with TLS alone", records: { "_etcd-client-ssl._tcp.d": one }, is: ["https://one.test:2379"] },
  { name: "without TLS alone", records: { "_etcd-client._tcp.d": one }, is: ["http://one.test:2379"] },
];
const resolver = (records: Records) => async (name: string) => {
  const found = records[name];
  if (found === undefined) throw new Error(`querySrv ENOTFOUND ${name}`);
  return found;
};
for (const { name, records, is } of rows)
  test(`members by a domain: ${name}`, async () => deepEqual(await endpointsOfDomain("d", resolver(records)), is));

for (const records of [{}, { "_etcd-client._tcp.d": [] }] satisfies Records[])
  test(`a domain with ${JSON.stringify(records)} names nobody`, () =>
    rejects(endpointsOfDomain("d", resolver(records)), {
      code: "ETCD_DISCOVERY",
      message: /failed to discover etcd endpoints through SRV discovery/,
    }));
