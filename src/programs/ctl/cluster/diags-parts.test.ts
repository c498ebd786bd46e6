// The pure parts of cluster diags: what was asked for, whose logs are taken, and what is never handed on.
import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { choosePods } from "./choose-pods.ts";
import { diagsOptions } from "./diags-options.ts";
import { redacted, withoutSecrets } from "./without-secrets.ts";

const asked = (values: { [flag: string]: string }) =>
  diagsOptions({ value: (flag) => values[flag], isSet: (flag) => flag in values });

const sinces: [text: string, seconds: number | string][] = [
  ["", 0],
  ["30s", 30],
  ["5m", 300],
  ["2h", 7200],
  ["2d", "Error executing command: invalid duration for since flag (try 10s, 5m, or 1h): 2d"],
  ["1h30m", "Error executing command: invalid duration for since flag (try 10s, 5m, or 1h): 1h30m"],
];
for (const [since, outcome] of sinces) {
  test(`--since "${since}"`, () => {
    if (typeof outcome === "number") equal(asked({ since }).sinceSeconds, outcome);
    else throws(() => asked({ since }), { message: outcome, stream: "stdout" });
  });
}

test("counts that cannot be are refused, and nodes in focus are a list", () => {
  throws(() => asked({ "max-logs": "-1" }), { message: "Error executing command: negative value for max-logs flag" });
  throws(() => asked({ "max-parallelism": "0" }), /max-parallelism/);
  deepEqual(asked({ "focus-nodes": "b, a,,c" }).focusNodes, ["b", "a", "c"]);
  deepEqual(asked({}), { sinceSeconds: 0, mostPods: 5, atOnce: 10, focusNodes: [], keepsFiles: false });
});

const pod = (namespace: string, name: string, node: string, app: string, owner = "") => ({
  metadata: {
    namespace,
    name,
    labels: { "k8s-app": app },
    ...(owner === "" ? {} : { ownerReferences: [{ kind: "ReplicaSet", name: owner }] }),
  },
  spec: { nodeName: node, initContainers: [{ name: "init" }], containers: [{ name: "main" }] },
  status: { containerStatuses: [{ name: "main", restartCount: name.endsWith("again") ? 2 : 0 }] },
});
const pods = [
  pod("kube-system", "calico-node-1", "a", "calico-node"),
  pod("kube-system", "calico-node-2", "b", "calico-node"),
  pod("kube-system", "calico-node-3-again", "c", "calico-node"),
  pod("calico-system", "typha-1", "c", "calico-typha"),
  pod("calico-apiserver", "x-6b7f9c6d9-abcde", "a", "", "x-6b7f9c6d9"),
  pod("calico-apiserver", "x-5d8c7b9f8-fghij", "b", "", "x-5d8c7b9f8"),
  pod("shop", "web", "a", "web"),
  "junk",
];
const chosen: { name: string; mostPods: number; focusNodes: string[]; names: string[] }[] = [
  {
    name: "all of Calico's, wherever they are, and nobody else's",
    mostPods: 5,
    focusNodes: [],
    names: [
      "calico-node-1",
      "x-6b7f9c6d9-abcde",
      "calico-node-2",
      "x-5d8c7b9f8-fghij",
      "calico-node-3-again",
      "typha-1",
    ],
  },
  {
    name: "a few of each part, nodes in focus first, two generations of one Deployment are one part",
    mostPods: 1,
    focusNodes: ["c", "b"],
    names: ["calico-node-3-again", "typha-1", "x-5d8c7b9f8-fghij"],
  },
  { name: "none", mostPods: 0, focusNodes: [], names: [] },
];
for (const { name, mostPods, focusNodes, names } of chosen) {
  test(`pods: ${name}`, () => {
    const found = choosePods(pods, { mostPods, focusNodes });
    deepEqual(
      found.map((each) => each.name),
      names,
    );
  });
}

test("pods: each with its containers, and those that ran before", () => {
  const [found] = choosePods(pods, { mostPods: 1, focusNodes: ["c"] });
  deepEqual([found?.containers, found?.restarted, found?.isNode], [["init", "main"], ["main"], true]);
});

const secret = "hunter2hunter2";
const hidden: { name: string; object: object }[] = [
  { name: "a variable by its name", object: { env: [{ name: "ETCD_PASSWORD", value: secret }] } },
  { name: "a token by its name", object: { env: [{ name: "K8S_API_TOKEN", value: secret }] } },
  { name: "a file of a ConfigMap by its name", object: { data: { "tls.key": secret, password: secret } } },
  { name: "a private key wherever it is", object: { data: { a: `-----BEGIN RSA PRIVATE KEY-----\n${secret}` } } },
  { name: "a password in an address", object: { spec: { url: `https://user:${secret}@etcd:2379` } } },
  { name: "a token wherever it is", object: { spec: { note: `eyJhbGciOiJSUzI1.${secret}.x` } } },
  {
    name: "the copy that kubectl keeps",
    object: { metadata: { annotations: { "kubectl.kubernetes.io/last-applied-configuration": secret } } },
  },
  { name: "what is no text", object: { binaryData: secret } },
];
for (const { name, object } of hidden) {
  test(`not handed on: ${name}`, () => equal(JSON.stringify(withoutSecrets(object)).includes(secret), false));
}

test("the rest of an object stays as it is", () => {
  const object = {
    metadata: { name: "a", managedFields: [1], labels: { key: "v" } },
    spec: { env: [{ name: "FELIX_LOGSEVERITYSCREEN", value: "info" }], list: [1, null, { a: "b" }] },
    data: { cni_network_config: "{}" },
  };
  deepEqual(withoutSecrets(object), { ...object, metadata: { name: "a", labels: { key: "v" } } });
  deepEqual(withoutSecrets({ env: [{ name: "A_TOKEN", value: "x" }] }), {
    env: [{ name: "A_TOKEN", value: redacted }],
  });
});

test("whatever an object is, it is read", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => void withoutSecrets(value)));
  fc.assert(fc.property(fc.array(fc.jsonValue()), (value) => void choosePods(value, { mostPods: 2, focusNodes: [] })));
});
