// Default pools, kubeadm's subnets and missing rights: tables of what is given and what comes out.
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { test } from "node:test";
import { type JsonRecord, silentLog } from "../../../base/lib/index.ts";
import type { HostInterface } from "../addresses/interfaces.ts";
import { readNodeSettings } from "../settings/read.ts";
import { kubeadmSubnets } from "./facts.ts";
import { defaultPools, type PoolWorld } from "./pools.ts";
import { missingRights } from "./rights.ts";

const at = (...cidrs: string[]): HostInterface[] => [
  { index: 1, name: "eth0", addresses: cidrs.map((cidr) => ({ family: 4, cidr })) },
];

function pools(environment: { [name: string]: string }, given: Partial<PoolWorld> = {}) {
  const random = () => new Uint8Array([0x12, 0x34, 0x05, 0x67, 0x89]);
  return defaultPools({
    read: readNodeSettings(environment),
    kubeadm: undefined,
    interfaces: at("172.30.0.11/24"),
    present: new Set(),
    hasIpv6: true,
    random,
    log: silentLog,
    ...given,
  });
}

const only4 = { CALICO_IPV6POOL_CIDR: "none" };
const usual = {
  cidr: "192.168.0.0/16",
  natOutgoing: true,
  ipipMode: "Never",
  vxlanMode: "Never",
  blockSize: 26,
  disableBGPExport: false,
};

test("pools: the usual ones", () => {
  const six = { ...usual, cidr: "fd12:3405:6789::/48", natOutgoing: false, blockSize: 122 };
  deepEqual(pools({}), [
    { family: 4, name: "default-ipv4-ippool", spec: usual },
    { family: 6, name: "default-ipv6-ippool", spec: six },
  ]);
});

const made: { name: string; env: { [name: string]: string }; given?: Partial<PoolWorld>; specs: object[] }[] = [
  { name: "none", env: { NO_DEFAULT_POOLS: "TRUE" }, specs: [] },
  { name: "IPv4 there already, disabled or not", env: only4, given: { present: new Set([4]) }, specs: [] },
  { name: "no IPv6 in the kernel", env: {}, given: { hasIpv6: false }, specs: [usual] },
  { name: "no IPv6 for Felix", env: { FELIX_IPV6SUPPORT: "No" }, specs: [usual] },
  {
    name: "an empty word is a yes",
    env: { ...only4, CALICO_IPV4POOL_DISABLE_BGP_EXPORT: "" },
    specs: [{ ...usual, disableBGPExport: true }],
  },
  {
    name: "the host in the usual range",
    env: only4,
    given: { interfaces: at("192.168.5.4/24", "172.16.0.1/16") },
    specs: [{ ...usual, cidr: "172.17.0.0/16" }],
  },
  {
    name: "kubeadm",
    env: {},
    given: { kubeadm: { c: "networking:\n  podSubnet: 10.1.0.0/16,fd01::/64\n" }, hasIpv6: false },
    specs: [{ ...usual, cidr: "10.1.0.0/16" }],
  },
  {
    name: "modes in any spelling, host bits, selector",
    env: {
      ...only4,
      CALICO_IPV4POOL_CIDR: "10.50.1.0/16",
      CALICO_IPV4POOL_IPIP: "Cross-Subnet",
      CALICO_IPV4POOL_NODE_SELECTOR: "has(pods)",
      CALICO_IPV4POOL_NAT_OUTGOING: "n",
    },
    specs: [{ ...usual, cidr: "10.50.0.0/16", ipipMode: "CrossSubnet", nodeSelector: "has(pods)", natOutgoing: false }],
  },
];
for (const { name, env, given, specs } of made) {
  test(`pools: ${name}`, () => {
    deepEqual(
      pools(env, given).map(({ spec }) => spec),
      specs,
    );
  });
}

const refused: { env: { [name: string]: string }; says: RegExp; present?: boolean }[] = [
  { env: { NO_DEFAULT_POOLS: "true", CALICO_IPV6POOL_CIDR: "fd00::/64" }, says: /NO_DEFAULT_POOLS defined and/ },
  { env: { CALICO_IPV4POOL_CIDR: "fd00::/64" }, says: /Invalid CIDR specified in CALICO_IPV4POOL_CIDR 'fd00::\/64'/ },
  { env: { CALICO_IPV4POOL_BLOCK_SIZE: "19" }, says: /Invalid blocksize 19 for version 4/, present: true },
  { env: { CALICO_IPV6POOL_BLOCK_SIZE: "x" }, says: /Unable to convert blocksize to int/, present: true },
  { env: { CALICO_IPV4POOL_NODE_SELECTOR: "has(" }, says: /Invalid node selector 'has\('/, present: true },
  {
    env: { CALICO_IPV4POOL_VXLAN: "Maybe" },
    says: /Unrecognized VXLAN mode specified in CALICO_IPV4POOL_VXLAN 'maybe'/,
  },
];
for (const { env, says, present = false } of refused) {
  test(`pools: ${JSON.stringify(env)} is refused${present ? ", also where there are pools" : ""}`, () => {
    throws(() => pools(env, present ? { present: new Set([4, 6]) } : {}), says);
  });
}

test("kubeadm's subnets: the first of each family, up to what is none", () => {
  deepEqual(kubeadmSubnets({ a: "x", b: "podSubnet: 10.1.0.0/16,10.2.0.0/16,fd00::/48" }), {
    4: "10.1.0.0/16",
    6: "fd00::/48",
  });
  deepEqual(kubeadmSubnets({ b: 'podSubnet: "10.1.0.0/16, fd00::/48"' }), { 4: "10.1.0.0/16", 6: "fd00::/48" });
  deepEqual(kubeadmSubnets({ b: "podSubnet: rubbish,10.2.0.0/16" }), { 4: "", 6: "" });
  deepEqual(kubeadmSubnets({}), { 4: "", 6: "" });
});

const asksAll = [
  { kind: "Node", verb: "update", subresource: "status" },
  { kind: "BGPConfiguration", verb: "create", isDispensable: true },
  { kind: "IPAMConfig", verb: "create", isDispensable: true },
  { kind: "FelixConfiguration", verb: "get" },
] as const;
const rule = (group: string, resources: string[], verbs: string[]) => ({ apiGroups: [group], resources, verbs });

function server(rules: readonly JsonRecord[], allowed: readonly string[] = []) {
  const asked: string[] = [];
  const json = async ({ path, body }: { path: string; body?: unknown }) => {
    const { spec } = body as { spec: { resourceAttributes?: { verb: string; resource: string; subresource: string } } };
    asked.push(path);
    if (path.endsWith("selfsubjectrulesreviews")) return { status: { resourceRules: rules } };
    const { verb = "", resource = "", subresource = "" } = spec.resourceAttributes ?? {};
    return { status: { allowed: allowed.includes(`${verb} ${resource}${subresource && `/${subresource}`}`) } };
  };
  const api = { json, open: async () => Promise.reject(new Error("not asked for")) };
  return { datastore: { api, calicoGroup: async () => "crd.projectcalico.org" as const }, asked };
}

test("rights: who may do all is asked about once", async () => {
  const { datastore, asked } = server([{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]);
  equal(await missingRights(asksAll, datastore, new AbortController().signal), undefined);
  equal(asked.length, 1);
});

test("rights: what is missing is one text of rules, resources with the same verbs together", async () => {
  const { datastore } = server([rule("crd.projectcalico.org", ["felixconfigurations"], ["get"])]);
  const missing = await missingRights(asksAll, datastore, new AbortController().signal);
  equal(
    missing?.rules,
    `- apiGroups: [""]
  resources: ["nodes/status"]
  verbs: ["update"]
- apiGroups: ["crd.projectcalico.org"]
  resources: ["bgpconfigurations", "ipamconfigs"]
  verbs: ["create"]`,
  );
});

test("rights: what no rule lists may be granted by another authoriser, and is asked for by itself", async () => {
  const { datastore, asked } = server(
    [rule("", ["nodes/status"], ["update"]), { ...rule("*", ["*"], ["*"]), resourceNames: ["one"] }],
    ["create bgpconfigurations", "create ipamconfigs", "get felixconfigurations"],
  );
  equal(await missingRights(asksAll, datastore, new AbortController().signal), undefined);
  ok(asked.length === 4);
});
