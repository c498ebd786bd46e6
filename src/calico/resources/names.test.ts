// Names and labels that both programs must find each other's objects by; the values were recorded from the original.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { toIpamCustomResource } from "./forms/ipam.ts";
import { affinityName, cidrName, cidrOfName, endpointNameOfPod, hostnameHash, podOfEndpoint } from "./names.ts";
import { readV3 } from "./v3-object.ts";

const hashes: [node: string, hash: string][] = [
  ["cka001", "CXJINYOKW7MM2FOZ2EDGTVWSGDMX3JYGCPYNQC6J4GUOJISDPL3A"],
  ["n1", "DM7EHBDU4L3ELKRER4A46T6QMKAGARQI4CVWBO26S4I2IDAAW6CA"],
];
for (const [node, hash] of hashes) test(`the hash of the node ${node}`, () => equal(hostnameHash(node), hash));

const networks: [cidr: string, name: string][] = [
  ["10.244.62.64/26", "10-244-62-64-26"],
  ["fd00:10:244:7008:d424:542:3743:9f00/122", "fd00-10-244-7008-d424-542-3743-9f00-122"],
  ["fd00::/48", "fd00---48"],
];
for (const [cidr, name] of networks) {
  test(`${cidr} is called ${name}, and the name says the network`, () => {
    equal(cidrName(cidr), name);
    equal(cidrOfName(name), cidr);
  });
}

test("a name that is no network's says none", () => {
  deepEqual(["", "x", "10-0-0-0-33", "10-0-0-1-26", "010-0-0-0-26"].map(cidrOfName), Array(5).fill(undefined));
});

test("an affinity of a node with a long name is shortened, and stays different from its neighbours", () => {
  equal(affinityName("n1", "10.0.0.0/26"), "n1-10-0-0-0-26");
  const long = affinityName("n".repeat(250), "10.0.0.0/26") ?? "";
  equal(long.length, 252);
  equal(/^n{228}-10-0-0-0-26-[0-9a-f]{11}$/.test(long), true);
});

test("an affinity is stored with the labels that it is looked up by, and these in its annotation", () => {
  const spec = { cidr: "10.244.62.64/26", node: "cka001", state: "confirmed", type: "host", deleted: false };
  const object = readV3("BlockAffinity", { metadata: { name: "cka001-10-244-62-64-26" }, spec });
  const labels = {
    "projectcalico.org/affinity-type": "host",
    "projectcalico.org/hostname-hash": "CXJINYOKW7MM2FOZ2EDGTVWSGDMX3JYGCPYNQC6J4GUOJISDPL3A",
    "projectcalico.org/ip-version": "4",
  };
  deepEqual(toIpamCustomResource(object, "crd.projectcalico.org"), {
    apiVersion: "crd.projectcalico.org/v1",
    kind: "BlockAffinity",
    metadata: {
      name: "cka001-10-244-62-64-26",
      labels,
      annotations: { "projectcalico.org/metadata": JSON.stringify({ labels }) },
    },
    spec: { ...spec, deleted: "false" },
  });
});

test("a handle and a block keep nothing in the annotation", () => {
  const handle = readV3("IPAMHandle", { metadata: { name: "h" }, spec: { handleID: "H", block: {} } });
  const { metadata } = toIpamCustomResource(handle, "crd.projectcalico.org");
  deepEqual(metadata, { name: "h", annotations: { "projectcalico.org/metadata": "{}" } });
});

test("an endpoint's name says its pod, dashes doubled", () => {
  equal(endpointNameOfPod("node-a", "web-0"), "node--a-k8s-web--0-eth0");
  equal(podOfEndpoint("node--a-k8s-web--0-eth0"), "web-0");
  deepEqual(["nonsense", "n1-*", "n1-cni-x-eth0", ""].map(podOfEndpoint), Array(4).fill(undefined));
});
