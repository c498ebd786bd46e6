// v3 objects in a folder: every kind is written as a person would write it, and read back by the next program.
import { deepEqual, equal, ok } from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openDirectoryDatastore } from "../../src/calico/datastore/index.ts";
import { type ApiKind, openResources, type Resources } from "../../src/calico/resources/index.ts";

async function open(t: TestContext, path: string): Promise<Resources> {
  const datastore = await openDirectoryDatastore({ path });
  t.after(() => datastore[Symbol.asyncDispose]());
  return openResources(datastore);
}

const objects: readonly [kind: ApiKind, object: object][] = [
  ["Tier", { metadata: { name: "default" }, spec: { order: 1000000, defaultAction: "Deny" } }],
  ["IPPool", { metadata: { name: "p", labels: { team: "net" } }, spec: { cidr: "10.1.0.0/16" } }],
  ["GlobalNetworkPolicy", { metadata: { name: "g" }, spec: { selector: "a == 'b' && has(c)" } }],
  ["NetworkPolicy", { metadata: { name: "n", namespace: "shop" }, spec: { egress: [{ action: "Deny" }] } }],
  ["IPAMConfiguration", { metadata: { name: "default" }, spec: { strictAffinity: true, autoAllocateBlocks: true } }],
  [
    "IPAMBlock",
    {
      metadata: { name: "10-1-0-0-30" },
      spec: {
        cidr: "10.1.0.0/30",
        affinity: "host:n1",
        allocations: [0, null, null, null],
        unallocated: [1, 2, 3],
        attributes: [{ handle_id: "h", secondary: { node: "n1" } }],
        sequenceNumber: 1723456789012345678n,
        sequenceNumberForAllocation: { 0: 1723456789012345677n, 10: 1n, 2: 2n },
      },
    },
  ],
  [
    "BlockAffinity",
    {
      metadata: { name: "n1-10-1-0-0-30" },
      spec: { node: "n1", type: "host", cidr: "10.1.0.0/30", state: "confirmed" },
    },
  ],
  ["Profile", { metadata: { name: "web" }, spec: { labelsToApply: { role: "web" } } }],
  [
    "WorkloadEndpoint",
    {
      metadata: { name: "n1-k8s-web-eth0", namespace: "shop" },
      spec: {
        orchestrator: "k8s",
        node: "n1",
        pod: "web",
        endpoint: "eth0",
        interfaceName: "cali12",
        ipNetworks: ["10.1.0.1/32"],
      },
    },
  ],
  ["Node", { metadata: { name: "n1" }, spec: { bgp: { ipv4Address: "192.0.2.1/24" } } }],
  ["IPAMHandle", { metadata: { name: "h" }, spec: { handleID: "h", block: { "10.1.0.0/30": 1 } } }],
];

test("what is written to a folder is v3, and another program reads the same", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "cattail-resources-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const resources = await open(t, folder);
  const made = [];
  for (const [kind, object] of objects) made.push(await resources.create(kind, object));
  const texts = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => readFileSync(join(folder, file), "utf8"));
  equal(texts.length, objects.length);
  for (const text of texts) {
    ok(text.includes("projectcalico.org/v3"), text);
    ok(!text.includes("projectcalico.org/metadata"), text);
  }
  const others = await open(t, folder);
  for (const object of made) {
    const { namespace = "", name = "" } = object.metadata;
    const read = await others.get(object.kind, { namespace, name });
    deepEqual(read.spec, object.spec);
    deepEqual(read.metadata.uid, object.metadata.uid);
  }
  const changed = await others.edit("IPPool", { namespace: "", name: "p" }, (pool) =>
    pool === undefined ? "nothing" : { ...pool, spec: { ...pool.spec, natOutgoing: true } },
  );
  equal(changed?.spec.natOutgoing, true);
});
