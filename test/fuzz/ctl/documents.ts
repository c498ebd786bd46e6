// Random v3 objects of every kind that ctl knows: most of them could be somebody's, some have a value or a field that is odd.
import fc from "fast-check";
import { crdSchema } from "../../../src/calico/kinds/index.ts";
import type { CrdSchema } from "../../../src/calico/model/index.ts";

export type Document = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly spec?: unknown;
};

export const ctlKinds = [
  "BGPConfiguration",
  "BGPFilter",
  "BGPPeer",
  "CalicoNodeStatus",
  "ClusterInformation",
  "FelixConfiguration",
  "GlobalNetworkPolicy",
  "GlobalNetworkSet",
  "HostEndpoint",
  "IPAMConfiguration",
  "IPPool",
  "IPReservation",
  "KubeControllersConfiguration",
  "NetworkPolicy",
  "NetworkSet",
  "Node",
  "Profile",
  "StagedGlobalNetworkPolicy",
  "StagedKubernetesNetworkPolicy",
  "StagedNetworkPolicy",
  "Tier",
  "WorkloadEndpoint",
] as const;

export type CtlKind = (typeof ctlKinds)[number];

export const namespacedKinds: readonly string[] = [
  "NetworkPolicy",
  "NetworkSet",
  "StagedKubernetesNetworkPolicy",
  "StagedNetworkPolicy",
  "WorkloadEndpoint",
];

/** Of these there is one object only, or nearly. */
const named: { readonly [kind: string]: readonly string[] } = {
  BGPConfiguration: ["default", "default", "node.n1"],
  ClusterInformation: ["default"],
  FelixConfiguration: ["default", "default", "node.n1"],
  IPAMConfiguration: ["default"],
  KubeControllersConfiguration: ["default"],
  Node: ["n1", "n1", "n2", "n3"],
  Profile: ["kns.default", "kns.shop", "ksa.default.default", "mine", "projectcalico-default-allow"],
  WorkloadEndpoint: ["n1-k8s-web-eth0", "n1-k8s-web-eth0", "n1-k8s-gone-eth0"],
  Tier: ["a", "b", "default", "kube-admin"],
};

export function nameOf(kind: CtlKind): fc.Arbitrary<string> {
  const usual = fc.constantFrom(...(named[kind] ?? ["a", "a", "b", "b.c", "web"]));
  const odd = fc.constantFrom(
    "default",
    "A",
    "a_b",
    "-a",
    "default.a",
    "knp.default.a",
    "a.b.c",
    "",
    `x${"y".repeat(255)}`,
    "1",
  );
  return fc.oneof({ weight: 14, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

/** By the name of the field; the first that fits. */
const texts: readonly [name: RegExp, ...values: string[]][] = [
  [/^cidr$/i, "10.1.0.0/16", "192.0.2.0/24", "10.1.2.0/24", "fd00:1::/64", "10.1.0.0/16", "10.9.0.0/16"],
  [/cidr|nets/i, "10.1.0.0/16", "192.0.2.0/24", "10.0.0.1", "fd00::/64", "10.1.2.3/16"],
  [/selector/i, "all()", "a == 'b'", "has(x) && y in {'z','w'}", "global()", 'a == "b"'],
  [/(time|interval|period|timeout|ttl|keepAlive|delay|age)(secs)?$/i, "30s", "1m30s", "0s", "1h0m0s"],
  [/lastUpdated|TransitionTime|ClaimTime|releasedAt/, "2026-01-31T12:00:00Z"],
  [/ipv6|V6$/i, "fd00::1", "FD00::0001"],
  [/ip$|ips$|address$|^reachableBy$/i, "10.0.0.1", "10.0.0.2", "fd00::2"],
  [/value|communit/i, "1:2", "65000:100", "1:2:3"],
  [/regex|pattern/i, "eth.*", "^a$"],
  [/exact|prefix/i, "/a"],
  [/^node$/i, "n1", "n2"],
  [/tier/i, "default", "default", "a"],
  [/mac/i, "aa:bb:cc:dd:ee:ff", "AA-BB-CC-DD-EE-FF"],
];

const odd: fc.Arbitrary<unknown> = fc.constantFrom<unknown>(
  "",
  " ",
  "a b",
  "has(",
  "10.0.0.1/8",
  "fd00::/64",
  "300.1.1.1",
  "-1",
  "65536",
  "é<&>",
  "a: b",
  "- a",
  "y",
  "010",
  "1e3",
  "x".repeat(300),
  "two\nlines\n",
  'it\'s "quoted"',
  0,
  -1,
  1.5,
  70000,
  4294967296,
  true,
  false,
  null,
  [],
  {},
  ["a"],
  { a: "b" },
);

const isIn = (schema: unknown): schema is CrdSchema => typeof schema === "object" && schema !== null;

type Oddness = { readonly one: number };

function anyOf(schema: CrdSchema, name: string, how: Oddness): fc.Arbitrary<unknown> {
  const usual = usualOf(schema, name, how);
  if (how.one === 0) return usual;
  return fc.oneof({ weight: how.one, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

function usualOf(schema: CrdSchema, name: string, how: Oddness): fc.Arbitrary<unknown> {
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (schema["x-kubernetes-int-or-string"] === true) {
    return /protocol/i.test(name)
      ? fc.constantFrom("TCP", "UDP", 6, "ICMP")
      : fc.constantFrom(80, "80:90", "http", 443);
  }
  switch (schema.type) {
    case "string":
      return fc.constantFrom(...textsFor(schema, name));
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number": {
      const min = typeof schema.minimum === "number" ? schema.minimum : 1;
      const max = Math.min(typeof schema.maximum === "number" ? schema.maximum : 100, min + 100);
      const whole = fc.integer({ min, max });
      return schema.type === "number" ? fc.oneof(whole, fc.constantFrom(1.5, 1e6, 1e7, 0.25, 2e21)) : whole;
    }
    case "array": {
      const element = isIn(schema.items) ? anyOf(schema.items, name, how) : fc.constant("a");
      return fc.uniqueArray(element, { maxLength: 2, selector: (value) => JSON.stringify(value) });
    }
    default:
      return objectOf(schema, name, how);
  }
}

function textsFor({ pattern, format, maxLength }: CrdSchema, name: string): string[] {
  const known = format === "cidr" ? ["10.1.0.0/16"] : texts.find(([fits]) => fits.test(name))?.slice(1);
  const values = (known ?? ["a", "b-c"]).map(String);
  const rule = typeof pattern === "string" ? new RegExp(pattern.replace("(?i)", ""), "i") : undefined;
  const good = values.filter((value) => {
    const isShort = typeof maxLength !== "number" || value.length <= maxLength;
    return isShort && (rule === undefined || rule.test(value));
  });
  return good.length > 0 ? good : values;
}

function objectOf(schema: CrdSchema, name: string, how: Oddness): fc.Arbitrary<unknown> {
  if (isIn(schema.additionalProperties)) {
    return fc.dictionary(fc.constantFrom("a", "b.c/d"), anyOf(schema.additionalProperties, name, how), { maxKeys: 2 });
  }
  const members = Object.entries(isIn(schema.properties) ? schema.properties : {});
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const others = members.map(([member]) => member).filter((member) => !required.includes(member));
  // Few of many: a rule that is all of its fields at once contradicts itself.
  return fc.subarray(others, { maxLength: Math.min(4, others.length) }).chain((chosen) =>
    fc.record(
      Object.fromEntries(
        members
          .filter(([member]) => required.includes(member) || chosen.includes(member))
          .map(([member, inner]) => [member, anyOf(inner as CrdSchema, member, how)]), // properties are schemas
      ),
    ),
  );
}

/** Of the kinds that have no CRD. */
const others: { readonly [kind: string]: CrdSchema } = {
  Node: objectSchema({
    bgp: objectSchema({
      ipv4Address: { type: "string", format: "address" },
      ipv6Address: { type: "string" },
      asNumber: { type: "integer" },
      routeReflectorClusterID: { type: "string" },
      ipv4IPIPTunnelAddr: { type: "string" },
    }),
    ipv4VXLANTunnelAddr: { type: "string" },
    vxlanTunnelMACAddr: { type: "string" },
    wireguard: objectSchema({ interfaceIPv4Address: { type: "string" } }),
    orchRefs: {
      type: "array",
      items: objectSchema({ nodeName: { type: "string" }, orchestrator: { type: "string" } }),
    },
  }),
  Profile: objectSchema({
    labelsToApply: { type: "object", additionalProperties: { type: "string" } },
    ingress: { type: "array", items: objectSchema({ action: { type: "string", enum: ["Allow", "Deny"] } }) },
  }),
  WorkloadEndpoint: objectSchema({
    node: { type: "string", enum: ["n1"] },
    orchestrator: { type: "string", enum: ["k8s"] },
    pod: { type: "string", enum: ["web"] },
    endpoint: { type: "string", enum: ["eth0"] },
    interfaceName: { type: "string", enum: ["cali0"] },
    ipNetworks: { type: "array", items: { type: "string", enum: ["10.0.0.1/32", "fd00::1/128"] } },
    profiles: { type: "array", items: { type: "string" } },
    mac: { type: "string" },
  }),
};

function objectSchema(properties: { readonly [name: string]: unknown }): CrdSchema {
  return { type: "object", properties };
}

function specSchema(kind: CtlKind): CrdSchema {
  if (others[kind] !== undefined) return others[kind];
  const custom = kind === "IPAMConfiguration" ? "IPAMConfig" : kind;
  return Object(crdSchema(custom as Parameters<typeof crdSchema>[0]).properties).spec; // all others are custom kinds
}

const labels = fc.dictionary(
  fc.constantFrom("app", "a.b/c", "projectcalico.org/x"),
  fc.constantFrom("web", "", "y", "1", "a-b"),
  { maxKeys: 2 },
);
const oddLabels = fc.constantFrom<unknown>({ "a b": "c" }, { app: "no spaces please" }, { app: 1 }, null, [], "x");

/** With oddness 0 nothing is odd; else one value in so many. */
export function documentOf(kind: CtlKind, oddness: number): fc.Arbitrary<Document> {
  const how = { one: oddness };
  const isNamespaced = namespacedKinds.includes(kind);
  const someLabels =
    oddness === 0 ? labels : fc.oneof({ weight: 30, arbitrary: labels }, { weight: 1, arbitrary: oddLabels });
  const metadata = fc
    .record(
      {
        name: oddness === 0 ? fc.constantFrom(...(named[kind]?.slice(0, 1) ?? ["a", "b"])) : nameOf(kind),
        ...(isNamespaced ? { namespace: fc.constantFrom("shop", "default") } : {}),
        labels: someLabels,
        annotations: labels,
        ...(oddness === 0
          ? {}
          : {
              extra: fc.constantFrom<unknown>(
                undefined,
                { uid: "abc" },
                { resourceVersion: "1" },
                { generateName: "x" },
                { namespace: "shop" },
              ),
            }),
      },
      { requiredKeys: ["name"] },
    )
    .map((given) => {
      const { extra, ...rest } = given as { extra?: object; name: string };
      return { ...rest, ...(Math.abs(hash(JSON.stringify(rest))) % 10 === 0 ? extra : {}) };
    });
  const more = fc.constantFrom<object>({}, {}, {}, {}, {}, {}, {}, {}, { bogus: 1 }, { status: {} });
  return fc.tuple(metadata, usualOf(specSchema(kind), "spec", how), more).map(([meta, spec, rest]) => ({
    apiVersion: "projectcalico.org/v3",
    kind,
    metadata: meta,
    spec,
    ...(oddness === 0 ? {} : rest),
  }));
}

function hash(text: string): number {
  let sum = 7;
  for (const letter of text) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) | 0;
  return sum;
}
