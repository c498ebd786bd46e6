import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { createWorkloadEndpointProcessor } from "./endpoint/workload-endpoint.ts";
import { createProfileProcessor } from "./profile/profile.ts";
import { createLiveMigrationProcessor, createVirtualMachineMigrationProcessor } from "./service/live-migration.ts";

const v3 = (kind: string, metadata: object, spec: object) => ({
  kind,
  apiVersion: "projectcalico.org/v3",
  metadata,
  spec,
});

const names: { name: string; path: string | undefined }[] = [
  { name: "node--a-k8s-web--0-eth0", path: "/calico/v1/host/node-a/workload/k8s/shop%2fweb-0/endpoint/eth0" },
  { name: "h-openstack-vm-tap1", path: "/calico/v1/host/h/workload/openstack/shop%2fvm/endpoint/tap1" },
  { name: "only-three-parts", path: undefined },
  { name: "one-two-three-four-five", path: undefined },
  { name: "a-b-c-", path: undefined },
];
for (const { name, path } of names) {
  test(`a stored endpoint named ${name}`, () => {
    equal(createWorkloadEndpointProcessor().delete({ namespace: "shop", name }).kvs[0]?.path, path);
  });
}

const id = { namespace: "shop", name: "h-k8s-p-eth0" };
const endpoint = (spec: object, metadata: object = {}) =>
  createWorkloadEndpointProcessor().set(id, "3", v3("WorkloadEndpoint", { name: id.name, ...metadata }, spec));
const good = { interfaceName: "cali1", ipNetworks: ["10.0.0.9/24", "fd00::9"] };

test("a stored endpoint with everything", () => {
  const output = endpoint(
    {
      ...good,
      mac: "EE-EE-EE-EE-EE-EE",
      profiles: ["kns.shop"],
      serviceAccountName: "s".repeat(70),
      ipNATs: [
        { internalIP: "10.0.0.9", externalIP: "192.0.2.7" },
        { internalIP: "x", externalIP: "192.0.2.7" },
      ],
      ipv4Gateway: "169.254.1.1/32",
      ports: [
        { name: "http", protocol: "TCP", port: 80 },
        { name: "", protocol: "UDP", port: 53 },
      ],
      allowSpoofedSourcePrefixes: ["8.8.8.8"],
      qosControls: { egressBandwidth: 5, dscp: "AF11" },
    },
    { labels: { a: "b", "pcns.x": "y" }, annotations: { k: "<" }, generateName: "p-" },
  );
  equal(
    output.kvs[0]?.value,
    `{"state":"active","name":"cali1","active_instance_id":"","mac":"ee:ee:ee:ee:ee:ee","profile_ids":["kns.shop"],"ipv4_nets":["10.0.0.0/24"],"ipv6_nets":["fd00::9/128"],"ipv4_nat":[{"int_ip":"10.0.0.9","ext_ip":"192.0.2.7"}],"labels":{"a":"b","projectcalico.org/serviceaccount":"${"s".repeat(70)}"},"ipv4_gateway":"169.254.1.1","ports":[{"name":"http","protocol":"tcp","port":80}],"generate_name":"p-","allow_spoofed_source_ips":["8.8.8.8/32"],"annotations":{"k":"\\u003c"},"qosControls":{"egressBandwidth":5,"dscp":"AF11"}}`,
  );
});

const refused: { name: string; spec: object; isInvalid: boolean; problems: string[] }[] = [
  { name: "no address", spec: { interfaceName: "cali1" }, isInvalid: false, problems: [] },
  { name: "a bad address", spec: { ...good, ipNetworks: ["x"] }, isInvalid: false, problems: ["spec.ipNetworks[0]"] },
  { name: "a bad MAC", spec: { ...good, mac: "x" }, isInvalid: false, problems: ["spec.mac"] },
  { name: "no interface name", spec: { ipNetworks: ["10.0.0.1"] }, isInvalid: true, problems: ["spec.interfaceName"] },
  {
    name: "a protocol by number",
    spec: { ...good, ports: [{ name: "a", protocol: 6, port: 1 }] },
    isInvalid: true,
    problems: ["spec.ports[0].protocol"],
  },
  {
    name: "a bad port after one without a name, which is left out",
    spec: {
      ...good,
      ports: [
        { protocol: "TCP", port: 1 },
        { name: "a", protocol: "TCP", port: 0 },
      ],
    },
    isInvalid: true,
    problems: ["spec.ports[1].port"],
  },
];
for (const { name, spec, isInvalid, problems } of refused) {
  test(`a stored endpoint with ${name}`, () => {
    const output = endpoint(spec);
    deepEqual([output.kvs[0]?.value, output.kvs[0]?.isInvalid ?? false], [undefined, isInvalid]);
    deepEqual(
      output.problems.map(({ field }) => field),
      problems,
    );
  });
}

const profile = (spec: object, name = "p") =>
  createProfileProcessor().set({ namespace: "", name }, "4", v3("Profile", { name }, spec));
const rule = (rest: object) => ({ ingress: [{ action: "Allow", ...rest }] });

const profiles: { name: string; spec: object; lives: boolean[] }[] = [
  { name: "nothing", spec: {}, lives: [false, true, true] },
  { name: "labels", spec: { labelsToApply: { a: "b" } }, lives: [true, true, true] },
  { name: "a label that is none", spec: { labelsToApply: { "a b": "c" } }, lives: [true, true, false] },
  { name: "a network with host bits", spec: rule({ source: { nets: ["10.0.0.1/8"] } }), lives: [false, true, false] },
  { name: "a bare address", spec: rule({ source: { nets: ["10.0.0.1"] } }), lives: [false, true, false] },
  {
    name: "networks of both families",
    spec: rule({ source: { nets: ["10.0.0.0/8"] }, destination: { nets: ["fd00::/8"] } }),
    lives: [false, true, false],
  },
  { name: "every address excluded", spec: rule({ source: { notNets: ["0.0.0.0/0"] } }), lives: [false, true, false] },
  { name: "a protocol in lower case", spec: rule({ protocol: "tcp" }), lives: [false, true, false] },
  { name: "a port without a protocol", spec: rule({ destination: { ports: [80] } }), lives: [false, false, false] },
  { name: "a selector that is none", spec: rule({ source: { selector: "has(" } }), lives: [false, false, false] },
  {
    name: "global() among others",
    spec: rule({ source: { namespaceSelector: "global() || a == 'b'" } }),
    lives: [false, true, false],
  },
  { name: "global() alone", spec: rule({ source: { namespaceSelector: "global()" } }), lives: [false, true, true] },
  {
    name: "an HTTP path both exact and prefix",
    spec: rule({ http: { paths: [{ exact: "/a", prefix: "/b" }] } }),
    lives: [false, true, false],
  },
  {
    name: "an HTTP path with a query",
    spec: rule({ http: { paths: [{ exact: "/a?b" }] } }),
    lives: [false, true, false],
  },
];
for (const { name, spec, lives } of profiles) {
  test(`a stored profile with ${name}: labels, rules and itself`, () => {
    deepEqual(
      profile(spec).kvs.map(({ value }) => value !== undefined),
      lives,
    );
  });
}

const profileProblems: { name: string; spec: object; problems: [field: string, effect: string][] }[] = [
  {
    name: "bad for its rules alone",
    spec: rule({ ipVersion: 5 }),
    problems: [["spec.ingress[0].ipVersion", "dropped"]],
  },
  {
    name: "bad for itself alone",
    spec: { egress: [{ action: "Allow", protocol: "tcp" }] },
    problems: [["spec.egress[0].protocol", "deleted"]],
  },
  {
    name: "bad for both in one place",
    spec: rule({ destination: { ports: [80] } }),
    problems: [["spec.ingress[0].destination.ports[0]", "deleted"]],
  },
  {
    name: "bad for each in a place of its own",
    spec: { ...rule({ ipVersion: 5 }), labelsToApply: { "a b": "c" } },
    problems: [
      ["spec.ingress[0].ipVersion", "dropped"],
      ['spec.labelsToApply["a b"]', "deleted"],
    ],
  },
];
for (const { name, spec, problems } of profileProblems) {
  test(`a stored profile that is ${name} is reported`, () => {
    deepEqual(
      profile(spec).problems.map(({ field, effect }) => [field, effect]),
      problems,
    );
  });
}

test("the built-in profile is what it is, stored or deleted", () => {
  const stored = profile(rule({ action: "Deny" }), "projectcalico-default-allow");
  const gone = createProfileProcessor().delete({ namespace: "", name: "projectcalico-default-allow" });
  deepEqual(stored.kvs, gone.kvs);
  equal(stored.kvs[1]?.value, '{"inbound_rules":[{"action":"allow"}],"outbound_rules":[{"action":"allow"}]}');
});

const migration = (status: object, uid = "u1") =>
  createVirtualMachineMigrationProcessor().set({ namespace: "vms", name: "m" }, "9", {
    metadata: { name: "m", namespace: "vms", uid, resourceVersion: "9" },
    spec: { vmiName: "db" },
    status,
  }).kvs[0];
const phases: { phase: string; isSent: boolean }[] = [
  { phase: "Pending", isSent: false },
  { phase: "Scheduling", isSent: true },
  { phase: "Running", isSent: true },
  { phase: "Failed", isSent: true },
  { phase: "Succeeded", isSent: false },
];
for (const { phase, isSent } of phases) {
  test(`a migration that is ${phase}`, () => equal(migration({ phase })?.value !== undefined, isSent));
}

test("a migration without a UID is nothing yet; with a source it names it", () => {
  equal(migration({ phase: "Running" }, "")?.value, undefined);
  const kv = migration({ phase: "Running", migrationState: { sourcePod: "virt-1" } });
  equal(
    kv?.value,
    `{"kind":"LiveMigration","apiVersion":"projectcalico.org/v3","metadata":{"name":"m","namespace":"vms","uid":"u1"},"spec":{"source":{"workload":{"orchestratorID":"k8s","workloadID":"vms/virt-1"}},"target":{"selector":"(vmi.kubevirt.io/id == 'db' || vm.kubevirt.io/name == 'db') \\u0026\\u0026 kubevirt.io/migrationJobUID == 'u1'"}}}`,
  );
  equal(kv?.v3ResourceVersion, "9");
});

test("a stored migration is passed on", () => {
  const value = v3(
    "LiveMigration",
    { name: "m", namespace: "vms" },
    { target: { workloadEndpoint: { hostname: "h" } } },
  );
  equal(
    createLiveMigrationProcessor().set({ namespace: "vms", name: "m" }, "9", value).kvs[0]?.value,
    '{"kind":"LiveMigration","apiVersion":"projectcalico.org/v3","metadata":{"name":"m","namespace":"vms"},"spec":{"target":{"workloadEndpoint":{"hostname":"h"}}}}',
  );
});
