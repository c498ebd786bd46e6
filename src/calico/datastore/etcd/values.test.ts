import { deepEqual, equal, match, throws } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Kind, kindInfo, kindNames } from "../../kinds/index.ts";
import type { Revision } from "../datastore.ts";
import { keyToId } from "./keys.ts";
import { readObject, writeObject } from "./values.ts";

const id = { namespace: "", name: "a" };
const revision = "7" as Revision;
const read = (text: string | Uint8Array) =>
  readObject(id, revision, typeof text === "string" ? Buffer.from(text) : text);

test("numbers beyond 2^53 are read and written exactly", () => {
  const { value } = read('{"sequenceNumber":1794729939941964722}');
  deepEqual(value, { sequenceNumber: 1794729939941964722n });
  equal(writeObject("IPAMBlock", value, id).toString(), '{"sequenceNumber":1794729939941964722}');
});

const unreadable: { name: string; bytes: string | Uint8Array; says: RegExp }[] = [
  { name: "an empty value", bytes: "", says: /not JSON/ },
  { name: "a torn value", bytes: '{"spec":', says: /not JSON/ },
  { name: "bytes that are no text", bytes: Uint8Array.of(0x22, 0xff, 0x22), says: /not JSON/ },
  { name: "a value with a byte order mark, which Go's decoder does not take", bytes: "\ufeff{}", says: /not JSON/ },
  { name: "a value nested 100,000 deep", bytes: "[".repeat(100_000), says: /deeper than 200/ },
];
for (const { name, bytes, says } of unreadable) {
  test(`${name} is an object with a problem and no value`, () => {
    const { value, problem = "" } = read(bytes);
    equal(value, undefined);
    match(problem, says);
  });
}

test("brackets inside strings are not depth", () => {
  equal(read(JSON.stringify({ a: "[".repeat(1_000) })).problem, undefined);
});

test("what the real tools stored is written back byte for byte", () => {
  const stored = JSON.parse(readFileSync("test/vectors/golden/etcd/stored.json", "utf8")) as {
    key: string;
    value: string;
  }[];
  for (const { key, value } of stored) {
    const kind = kindNames.find((name) => kindInfo(name).etcdPrefix !== undefined && keyToId(name, key) !== undefined);
    const found = kind === undefined ? undefined : keyToId(kind, key);
    // kube-controllers stores Kubernetes policies without the marks that calicoctl gives.
    if (kind === undefined || found === undefined || found.name.startsWith("knp.")) continue;
    const parsed = readObject(found, revision, Buffer.from(value));
    equal(writeObject(kind, parsed.value, found).toString(), value);
  }
});

const written: { name: string; kind: Kind; value: unknown; text: string }[] = [
  {
    name: "a revision is not stored, and kind and version are",
    kind: "Tier",
    value: { spec: {}, metadata: { resourceVersion: "5", labels: { b: "c" }, name: "a" } },
    text: '{"kind":"Tier","apiVersion":"projectcalico.org/v3","metadata":{"name":"a","labels":{"b":"c"}},"spec":{}}',
  },
  {
    name: "a policy carries its tier and its name",
    kind: "GlobalNetworkPolicy",
    value: { metadata: { name: "a" }, spec: { tier: "security" } },
    text: '{"kind":"GlobalNetworkPolicy","apiVersion":"projectcalico.org/v3","metadata":{"name":"a","labels":{"projectcalico.org/tier":"security"},"annotations":{"projectcalico.org/metadata":"{\\"name\\":\\"a\\"}"}},"spec":{"tier":"security"}}',
  },
];
for (const { name, kind, value, text } of written) {
  test(name, () => equal(writeObject(kind, value, id).toString(), text));
}

test("what is no object is not stored", () => {
  throws(() => writeObject("Tier", [], id), { code: "invalid" });
});
