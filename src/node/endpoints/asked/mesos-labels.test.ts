// What becomes of the labels that Mesos gives a container.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { mesosLabels } from "./mesos-labels.ts";

const given = (...labels: object[]) => ({ args: { "org.apache.mesos": { network_info: { labels: { labels } } } } });

const rows: { name: string; key: string; value: string; is: readonly [string, string] }[] = [
  { name: "plain ones stay", key: "k", value: "v", is: ["k", "v"] },
  { name: "a path", key: "DCOS_SPACE", value: "/a/b/c", is: ["DCOS_SPACE", "a.b.c"] },
  { name: "strange letters", key: "a b", value: "ä:ö", is: ["a-b", ""] },
  { name: "dots and dashes in a row", key: "a-.-b", value: "x--y", is: ["a.b", "x--y"] },
  { name: "ends", key: ".-a-.", value: "-1", is: ["a", "1"] },
];
for (const { name, key, value, is } of rows)
  test(`labels of Mesos: ${name}`, () =>
    deepEqual(mesosLabels(given({ key, value })), { labels: Object.fromEntries([is]), namespace: undefined }));

test("labels of Mesos: one is the namespace", () =>
  deepEqual(mesosLabels(given({ key: "projectcalico.org/namespace", value: "/team" }, { key: "a", value: "b" })), {
    labels: { a: "b" },
    namespace: "team",
  }));

for (const args of [undefined, null, 7, { "org.apache.mesos": [] }, { "org.apache.mesos": { network_info: "x" } }])
  test(`labels of Mesos: none in ${JSON.stringify(args)}`, () =>
    deepEqual(mesosLabels({ args }), { labels: {}, namespace: undefined }));
test("labels of Mesos: what is no label is passed over", () =>
  deepEqual(mesosLabels(given({ key: 7, value: "b" })).labels, { "": "b" }));
