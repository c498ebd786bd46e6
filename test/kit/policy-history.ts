// Random histories of the felix data set: keys that come, change and go, few enough that they meet each other.
import fc from "fast-check";

/** The node whose endpoints are local. */
export const node = "here";
const label = fc.constantFrom("a", "b", "c");
const value = fc.constantFrom("1", "2");
const labels = fc.dictionary(label, value, { maxKeys: 3 });
const profiles = fc.uniqueArray(fc.constantFrom("p", "q"), { maxLength: 2 });
const address = fc.integer({ min: 1, max: 6 }).map((last) => `10.0.0.${last}`);

const selector: fc.Arbitrary<string> = fc.letrec<{ s: string }>((tie) => ({
  s: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("all()", "", "global()"),
    fc.tuple(label, value).map(([name, text]) => `${name} == '${text}'`),
    fc.tuple(label, value).map(([name, text]) => `${name} != '${text}'`),
    label.map((name) => `has(${name})`),
    fc
      .tuple(label, fc.array(value, { maxLength: 2 }))
      .map(([name, texts]) => `${name} in {${texts.map((text) => `'${text}'`)}}`),
    fc.tuple(label, value).map(([name, text]) => `${name} not in {'${text}'}`),
    tie("s").map((inner) => (inner === "" ? "!all()" : `!(${inner})`)),
    fc
      .tuple(tie("s"), tie("s"), fc.constantFrom("&&", "||"))
      .map(([one, other, word]) => `(${one || "all()"}) ${word} (${other || "all()"})`),
  ),
})).s;

const rule = fc.record(
  {
    action: fc.constantFrom("allow", "deny", "next-tier", "log"),
    protocol: fc.constantFrom("tcp", "udp"),
    src_selector: selector,
    "!src_selector": selector,
    dst_selector: selector,
    dst_ports: fc.array(fc.constantFrom<number | string>(80, "web", "8000:9000"), { maxLength: 2 }),
    dst_service: fc.constantFrom("s", "t"),
    dst_service_ns: fc.constant("n"),
  },
  { requiredKeys: ["action", "protocol"] },
);
const rules = fc.array(rule, { maxLength: 2 });
const port = fc.record({
  name: fc.constantFrom("web", "dns"),
  protocol: fc.constantFrom("tcp", "udp"),
  port: fc.constantFrom(80, 8080, 53),
});

const workload = fc.record({
  state: fc.constant("active"),
  name: fc.constant("cali1"),
  profile_ids: profiles,
  ipv4_nets: fc.array(
    address.map((one) => `${one}/32`),
    { maxLength: 2 },
  ),
  labels,
  ports: fc.array(port, { maxLength: 2 }),
});
const hostEndpoint = fc.record({
  name: fc.constant("eth0"),
  expected_ipv4_addrs: fc.array(address, { maxLength: 1 }),
  labels,
  profile_ids: profiles,
});
const networkSet = fc.record({
  nets: fc.array(fc.oneof(address, fc.constant("10.0.0.0/24")), { maxLength: 2 }),
  labels,
  profile_ids: profiles,
});
const policy = fc.record(
  {
    tier: fc.constantFrom("default", "t", "missing"),
    order: fc.integer({ min: 0, max: 2 }),
    selector,
    types: fc.subarray(["ingress", "egress"]),
    inbound_rules: rules,
    outbound_rules: rules,
    untracked: fc.boolean(),
    apply_on_forward: fc.boolean(),
  },
  { requiredKeys: ["tier", "selector"] },
);
const slice = fc.record({
  metadata: fc.constantFrom("s", "t").map((name) => ({ labels: { "kubernetes.io/service-name": name } })),
  endpoints: fc.array(
    address.map((one) => ({ addresses: [one] })),
    { maxLength: 2 },
  ),
  ports: fc.array(
    fc.constantFrom(80, 8080).map((number) => ({ protocol: "TCP", port: number })),
    { maxLength: 2 },
  ),
});

const one = (paths: readonly string[], text: fc.Arbitrary<unknown>) =>
  fc.tuple(fc.constantFrom(...paths), fc.option(text, { freq: 4 }));
/** A key and its new value; null: it goes. */
export const policyChange = fc.oneof(
  {
    weight: 4,
    arbitrary: one(
      ["here", "there"].flatMap((host) =>
        ["x", "y"].map((name) => `/calico/v1/host/${host}/workload/k8s/n%2f${name}/endpoint/eth0`),
      ),
      workload,
    ),
  },
  { weight: 2, arbitrary: one(["/calico/v1/host/here/endpoint/h", "/calico/v1/host/there/endpoint/h"], hostEndpoint) },
  { weight: 2, arbitrary: one(["/calico/v1/netset/s1", "/calico/v1/netset/s2"], networkSet) },
  {
    weight: 5,
    arbitrary: one(
      ["GlobalNetworkPolicy//g1", "GlobalNetworkPolicy//g2", "NetworkPolicy/n/p1", "StagedNetworkPolicy/n/p2"].map(
        (name) => `/calico/v1/policy/${name}`,
      ),
      policy,
    ),
  },
  {
    weight: 1,
    arbitrary: one(
      ["/calico/v1/policy/tier/default/metadata", "/calico/v1/policy/tier/t/metadata"],
      fc.record({ order: fc.integer({ min: 0, max: 2 }), defaultAction: fc.constantFrom("Deny", "Pass") }),
    ),
  },
  {
    weight: 2,
    arbitrary: one(
      ["/calico/v1/policy/profile/p/rules", "/calico/v1/policy/profile/q/rules"],
      fc.record({ inbound_rules: rules, outbound_rules: rules }),
    ),
  },
  { weight: 2, arbitrary: one(["/calico/v1/policy/profile/p/labels", "/calico/v1/policy/profile/q/labels"], labels) },
  {
    weight: 2,
    arbitrary: one(
      ["e1", "e2"].map((name) => `/calico/resources/v3/projectcalico.org/kubernetesendpointslices/n/${name}`),
      slice,
    ),
  },
);
