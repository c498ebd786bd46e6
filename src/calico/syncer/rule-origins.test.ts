// Where rules come from, out of a datastore: only the kinds that are there are asked for, and a kind that cannot be read costs no answer.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { createKubernetesNetworkPolicyProcessor } from "../convert/index.ts";
import { createMemoryDatastore, DatastoreError, type Reader } from "../datastore/index.ts";
import { readRuleOrigins } from "./rule-origins.ts";

const { signal } = new AbortController();
const id = { namespace: "shop", name: "p" };
const value = { metadata: id, spec: { ingress: [{ ports: [{ port: 1 }, { port: 1, protocol: "UDP" }] }] } };
const [kv] = createKubernetesNetworkPolicyProcessor().set(id, "1", value).kvs;
const path = kv?.path ?? "";
const sent = new Map([[path, kv?.value ?? ""]]);

test("the object beside what was sent of it", async () => {
  const datastore = createMemoryDatastore();
  datastore.place("KubernetesNetworkPolicy", id, { value, at: 1n });
  const rule = { rule: 1, field: "spec.ingress[0]" };
  deepEqual([...(await readRuleOrigins(datastore, sent, signal))], [[path, { ingress: [rule, rule], egress: [] }]]);
  deepEqual([...(await readRuleOrigins(datastore, new Map([[path, "{}"]]), signal))], []);
});

test("objects that may not be read: no origins, and no error", async () => {
  const asked: string[] = [];
  const refusing: Pick<Reader, "list"> = {
    list: (kind) => {
      asked.push(kind);
      throw new DatastoreError("forbidden", "no");
    },
  };
  const reader: Reader = Object.assign(createMemoryDatastore(), refusing);
  deepEqual([...(await readRuleOrigins(reader, sent, signal))], []);
  deepEqual(asked, ["KubernetesNetworkPolicy"]);
});
