// For every kind and every form: what goes in comes out, and what is no such object is said to be none.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { arbitraryResource, hostileJson, hostileResource } from "../../../../test/kit/arbitrary-object.ts";
import { parseJson, writeJson } from "../../../base/lib/index.ts";
import { customKinds } from "../../kinds/index.ts";
import { FieldError, writeGoJson } from "../../model/index.ts";
import { type ApiKind, isNamespaced } from "../api-kinds.ts";
import { readV3, type V3Object } from "../v3-object.ts";
import { fromCustomResource, toCustomResource } from "./custom-resource.ts";
import { fromEtcdResource, toEtcdResource } from "./etcd.ts";
import { fromIpamRecord, isIpamKind, recordIdOfName, toIpamCustomResource, toIpamRecord } from "./ipam.ts";
import { fromKubernetesNode, toKubernetesNode } from "./node-view.ts";

const runs = { numRuns: 150 };
const uid = "30316465-6365-4463-ad63-3564622d3638";

/** An arbitrary object as v3, without the members of its spec that its schema cannot read. */
function arbitraryV3(kind: (typeof customKinds)[number]): fc.Arbitrary<V3Object> {
  return arbitraryResource(kind, "a.b-c").map((value) => {
    const { metadata, spec } = value as { metadata: object; spec: object }; // an object of the CRD's schema
    const readable = Object.entries(spec).filter(([name, member]) =>
      attempt(() => readV3(kind, { metadata, spec: { [name]: member } })),
    );
    const full = { ...metadata, uid, creationTimestamp: "2026-01-02T03:04:05Z" };
    return readV3(kind, { metadata: full, spec: Object.fromEntries(readable) });
  });
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof FieldError) return undefined;
    throw error;
  }
}

const revision = "12";
const withRevision = (object: V3Object): V3Object => {
  const { labels, annotations, ...metadata } = object.metadata;
  // Go leaves out what is empty; so do the forms.
  const kept = {
    ...(Object.keys(labels ?? {}).length === 0 ? {} : { labels }),
    ...(Object.keys(annotations ?? {}).length === 0 ? {} : { annotations }),
  };
  return readV3(object.kind, { ...object, metadata: { ...metadata, ...kept, resourceVersion: revision } });
};

for (const kind of customKinds.filter((each) => !isIpamKind(each))) {
  for (const form of ["crd.projectcalico.org", "projectcalico.org"] as const) {
    test(`${kind} in ${form}: what is stored is read as the same object`, () => {
      fc.assert(
        fc.property(arbitraryV3(kind), (object) => {
          const stored = parseJson(writeGoJson(toCustomResource(object, { form })));
          deepEqual(fromCustomResource(kind, stored, revision), withRevision(object));
        }),
        runs,
      );
    });
  }

  test(`${kind} in etcd: what is stored is read as the same object, and stored again as the same bytes`, () => {
    fc.assert(
      fc.property(arbitraryV3(kind), (object) => {
        const bytes = writeGoJson(toEtcdResource(object));
        const id = { namespace: isNamespaced(kind) ? "shop" : "", name: "a.b-c" };
        const read = fromEtcdResource(kind, { id, value: parseJson(bytes), revision });
        deepEqual(read, withRevision(object));
        equal(writeGoJson(toEtcdResource(read)), bytes);
      }),
      runs,
    );
  });
}

const networks = fc.constantFrom("10.0.0.0/26", "10.244.62.64/26", "fd00::/122", "fd00:10:244::40/122");
const sequence = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const texts = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.string({ maxLength: 5 }), {
  maxKeys: 3,
  noNullPrototype: true,
});

const ipamSpecs: { readonly [kind: string]: fc.Arbitrary<object> } = {
  IPAMBlock: fc.record({
    cidr: networks,
    affinity: fc.option(fc.constantFrom("host:n1", "virtual:load-balancer"), { nil: undefined }),
    affinityClaimTime: fc.option(fc.constant("2026-01-02T03:04:05Z"), { nil: undefined }),
    allocations: fc.array(fc.option(fc.nat(3)), { maxLength: 64 }),
    unallocated: fc.array(fc.nat(63), { maxLength: 64 }),
    attributes: fc.array(fc.record({ handle_id: fc.string(), secondary: texts }), { maxLength: 3 }),
    sequenceNumber: sequence,
    sequenceNumberForAllocation: fc.dictionary(fc.nat(63).map(String), sequence, { minKeys: 1, maxKeys: 20 }),
    deleted: fc.boolean(),
    strictAffinity: fc.constant(false),
  }),
  BlockAffinity: fc.record({
    state: fc.constantFrom("", "pending", "confirmed", "pendingDeletion"),
    node: fc.stringMatching(/^[a-z][a-z0-9.-]{0,40}$/),
    type: fc.constant("host"),
    cidr: networks,
    deleted: fc.boolean(),
  }),
  IPAMHandle: fc.record({
    handleID: fc.stringMatching(/^[a-z0-9.-]{1,40}$/),
    block: fc.dictionary(networks, fc.nat(64), { minKeys: 1, maxKeys: 3 }),
    deleted: fc.boolean(),
  }),
  IPAMConfig: fc.record({
    strictAffinity: fc.boolean(),
    autoAllocateBlocks: fc.boolean(),
    maxBlocksPerHost: fc.nat(100),
    kubeVirtVMAddressPersistence: fc.constantFrom("Enabled", "Disabled"),
    ipCooldownSeconds: fc.nat(1200),
  }),
};

for (const [name, specs] of Object.entries(ipamSpecs)) {
  const kind = name as "IPAMBlock" | "BlockAffinity" | "IPAMHandle" | "IPAMConfig"; // the keys of the table above
  test(`${kind}: every form gives back the spec that went in, sequence numbers to the last digit`, () => {
    fc.assert(
      fc.property(specs, (spec) => {
        const object = readV3(kind, { metadata: { name: "x" }, spec });
        for (const form of ["crd.projectcalico.org", "projectcalico.org"] as const) {
          const stored = parseJson(writeGoJson(toIpamCustomResource(object, form)));
          deepEqual(fromCustomResource(kind, stored, revision).spec, object.spec);
        }
        const { id, value } = toIpamRecord(object);
        const bytes = writeGoJson(value);
        const read = fromIpamRecord(kind, { id, value: parseJson(bytes), revision });
        deepEqual(read.spec, object.spec);
        deepEqual(toIpamRecord(read).id, id);
        const known = recordIdOfName(kind, read.metadata.name ?? "");
        if (known !== undefined) deepEqual(known, id);
        equal(writeGoJson(toIpamRecord(read).value), bytes);
      }),
      { numRuns: 300 },
    );
  });
}

for (const kind of customKinds) {
  test(`${kind}: a hostile object is read, or said to be none`, () => {
    fc.assert(
      fc.property(hostileResource(kind, "x"), (value) => {
        const id = { namespace: "shop", name: "x" };
        const reads: (() => V3Object)[] = [
          () => fromCustomResource(kind, value, revision),
          () =>
            isIpamKind(kind)
              ? fromIpamRecord(kind, { id, value, revision })
              : fromEtcdResource(kind, { id, value, revision }),
        ];
        for (const read of reads) attempt(read);
        ok(true);
      }),
      { numRuns: 200 },
    );
  });
}

/** What is too deep to be written is deep enough as text. */
function textOf(value: unknown): string {
  try {
    return writeJson(value) ?? "";
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return "[".repeat(10_000);
  }
}

test("a metadata annotation that is hostile makes the object unreadable, and nothing else", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), hostileJson.map(textOf)), (annotation) => {
      const annotations = { "projectcalico.org/metadata": annotation };
      const value = { apiVersion: "crd.projectcalico.org/v1", metadata: { name: "x", annotations }, spec: {} };
      attempt(() => fromCustomResource("GlobalNetworkPolicy", value, revision));
      const stored = { id: { namespace: "", name: "x" }, value: { ...value, apiVersion: "projectcalico.org/v3" } };
      attempt(() => fromEtcdResource("GlobalNetworkPolicy", { ...stored, revision }));
    }),
    { numRuns: 500 },
  );
});

const nodeSpecs = fc.record(
  {
    bgp: fc.record(
      {
        asNumber: fc.nat(4_294_967_295),
        ipv4Address: fc.constantFrom("10.0.0.1/24", "10.0.0.1"),
        ipv6Address: fc.constant("fd00::1/64"),
        ipv4IPIPTunnelAddr: fc.constant("10.1.0.1"),
        routeReflectorClusterID: fc.constant("1.2.3.4"),
      },
      { requiredKeys: ["asNumber"] },
    ),
    ipv4VXLANTunnelAddr: fc.constant("10.2.0.1"),
    vxlanTunnelMACAddr: fc.constant("66:aa:bb:cc:dd:ee"),
    ipv6VXLANTunnelAddr: fc.constant("fd00::2"),
    vxlanTunnelMACAddrV6: fc.constant("66:aa:bb:cc:dd:ef"),
    wireguard: fc.record({ interfaceIPv4Address: fc.constant("10.3.0.1") }),
    interfaces: fc.array(fc.record({ name: fc.constantFrom("eth0", "é<&>"), addresses: fc.constant(["10.0.0.1"]) }), {
      minLength: 1,
      maxLength: 2,
    }),
  },
  { requiredKeys: [] },
);

test("a node written as annotations of the Kubernetes node is read as the same node, and leaves the rest alone", () => {
  const own = fc.record({ labels: texts, annotations: texts, kubernetes: texts, others: texts });
  fc.assert(
    fc.property(nodeSpecs, own, (spec, { labels, annotations, kubernetes, others }) => {
      const current = {
        metadata: { name: "n1", labels: kubernetes, annotations: others },
        spec: { podCIDR: "10.9.0.0/24" },
      };
      const asked = readV3("Node", { metadata: { name: "n1", labels, annotations }, spec });
      const value = toKubernetesNode(asked, current) as typeof current;
      deepEqual(value.spec, current.spec);
      deepEqual(value.metadata.labels, kubernetes);
      for (const [key, text] of Object.entries(others)) equal((value.metadata.annotations as typeof others)[key], text);
      const read = fromKubernetesNode({ id: { namespace: "", name: "n1" }, value, revision }, { usePodCidr: false });
      const { addresses: _, orchRefs: __, ...readSpec } = read.spec;
      deepEqual(readSpec, asked.spec);
      deepEqual(read.metadata.labels ?? {}, { ...labels, ...kubernetes });
      // Written once more, nothing changes.
      deepEqual(toKubernetesNode(read, value), value);
    }),
    runs,
  );
});

test("every v3 kind that has a definition is among the tested", () => {
  const tested: readonly ApiKind[] = [...customKinds];
  equal(tested.length, 22);
});
