import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { readEntry, type SetUpdate } from "./index.ts";

function set(path: string, value: string, v3ResourceVersion = ""): SetUpdate {
  return { is: "set", path, value, revision: "1", v3ResourceVersion, isNew: true };
}

const cases: { name: string; update: SetUpdate; entry: object }[] = [
  {
    name: "configuration is text, even where it looks like JSON",
    update: set("/calico/v1/config/LogSeverityScreen", "true"),
    entry: { is: "GlobalConfig", key: { is: "GlobalConfig", name: "LogSeverityScreen" }, value: "true" },
  },
  {
    name: "the ready flag is a boolean",
    update: set("/calico/v1/Ready", "true"),
    entry: { is: "Ready", key: { is: "Ready" }, value: true },
  },
  {
    name: "a resource gets its kind beside it and its version back",
    update: set("/calico/resources/v3/projectcalico.org/nodes/n1", '{"metadata":{"name":"n1"},"spec":{}}', "77"),
    entry: {
      is: "Resource",
      kind: "Node",
      key: { is: "Resource", kind: "Node", namespace: "", name: "n1" },
      value: { metadata: { name: "n1", resourceVersion: "77" }, spec: {} },
    },
  },
  {
    name: "large integers stay exact",
    update: set("/calico/ipam/v2/assignment/ipv4/block/10.0.0.0-26", '{"sequenceNumber":1723456789012345678}'),
    entry: {
      is: "Block",
      key: { is: "Block", cidr: "10.0.0.0/26" },
      value: { sequenceNumber: 1723456789012345678n },
    },
  },
  {
    name: "a key of another version is handed on as it came",
    update: set("/calico/v9/x/y", "?"),
    entry: { is: "unknown", path: "/calico/v9/x/y", value: "?", why: "no kind of key has this path" },
  },
];
for (const { name, update, entry } of cases) test(`values: ${name}`, () => deepEqual(readEntry(update), entry));

test("values: what is no JSON is unknown, with the reason, and no exception", () => {
  equal(readEntry(set("/calico/v1/policy/tier/default/metadata", "{")).is, "unknown");
});

test("values: the kind tells the type", () => {
  const entry = readEntry(set("/calico/v1/host/n/workload/k8s/a%2fb/endpoint/eth0", '{"ipv4_nets":["10.0.0.1/32"]}'));
  equal(entry.is === "WorkloadEndpoint" && entry.value.ipv4_nets?.[0], "10.0.0.1/32");
});
