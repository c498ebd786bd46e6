// What is wrong with the files of a datastore is told before anything is asked of it, in the original's words.
import { rejects } from "node:assert/strict";
import { test } from "node:test";
import { type JsonRecord, systemClock } from "../../base/lib/index.ts";
import { freshBacking } from "./backing.ts";
import { readNetworkConfiguration } from "./configuration.ts";

const etcd = { datastore_type: "etcdv3", etcd_endpoints: "http://127.0.0.1:9" };
const init = "could not initialize etcdv3 client:";
const rows: { name: string; given: JsonRecord; says: string }[] = [
  {
    name: "a key without a certificate",
    given: { ...etcd, etcd_key_file: "/nowhere/key" },
    says: `${init} KeyFile and CertFile must both be present[key: /nowhere/key, cert: ]`,
  },
  {
    name: "a certificate without a key",
    given: { ...etcd, etcd_cert_file: "/nowhere/cert" },
    says: `${init} KeyFile and CertFile must both be present[key: , cert: /nowhere/cert]`,
  },
  {
    name: "an authority that is not there",
    given: { ...etcd, etcd_ca_cert_file: "/nowhere/ca" },
    says: `${init} open /nowhere/ca: no such file or directory`,
  },
  {
    name: "a kubeconfig that is not there",
    given: { kubernetes: { kubeconfig: "/nowhere/kubeconfig" } },
    says: "stat /nowhere/kubeconfig: no such file or directory",
  },
];
for (const { name, given, says } of rows)
  test(`${name} is refused`, async () => {
    const backing = freshBacking({ clock: systemClock, random: Math.random, warn: () => undefined });
    await rejects(backing.open(readNetworkConfiguration(given, {})), { code: 999, message: says });
  });
