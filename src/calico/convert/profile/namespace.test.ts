import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { createNamespaceProcessor, createServiceAccountProcessor, defaultAllowKvs } from "./namespace.ts";

const uid = "30316465-6365-4463-ad63-3564622d3638";
const translated = "0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c";

test("a namespace is three key/values: labels, rules, the profile", () => {
  const labels = { team: "a<b", "kubernetes.io/metadata.name": "shop" };
  const { kvs, problems } = createNamespaceProcessor().set({ namespace: "", name: "shop" }, "12", {
    metadata: { name: "shop", uid, labels },
  });
  deepEqual(problems, [
    {
      object: "Namespace/shop",
      field: 'metadata.labels["pcns.team"]',
      rule: "must be a label value of up to 63 characters",
      effect: "deleted",
    },
  ]);
  deepEqual(
    kvs.map(({ path }) => path),
    [
      "/calico/v1/policy/profile/kns.shop/labels",
      "/calico/v1/policy/profile/kns.shop/rules",
      "/calico/resources/v3/projectcalico.org/profiles/kns.shop",
    ],
  );
  deepEqual(
    kvs.map(({ revision }) => revision),
    ["12/", "12/", "12/"],
  );
  equal(
    kvs[0]?.value,
    '{"pcns.kubernetes.io/metadata.name":"shop","pcns.projectcalico.org/name":"shop","pcns.team":"a\\u003cb"}',
  );
  equal(kvs[1]?.value, '{"inbound_rules":[{"action":"allow"}],"outbound_rules":[{"action":"allow"}]}');
  equal(kvs[2]?.isInvalid, true);
});

test("a service account's profile, as the real Typha writes it", () => {
  const { kvs } = createServiceAccountProcessor().set({ namespace: "shop", name: "cart" }, "13", {
    metadata: { name: "cart", namespace: "shop", uid },
  });
  deepEqual(kvs[1], {
    path: "/calico/v1/policy/profile/ksa.shop.cart/rules",
    value: "{}",
    revision: "/13",
    v3ResourceVersion: "",
  });
  equal(
    kvs[2]?.value,
    `{"kind":"Profile","apiVersion":"projectcalico.org/v3","metadata":{"name":"ksa.shop.cart","uid":"${translated}"},"spec":{"labelsToApply":{"pcsa.projectcalico.org/name":"cart"}}}`,
  );
});

const invalid: { name: string; metadata: object; sa: string; deletes: boolean[] }[] = [
  {
    name: "a label that the prefix makes too long",
    metadata: { uid, labels: { ["l".repeat(59)]: "v" } },
    sa: "cart",
    deletes: [false, false, true],
  },
  { name: "a name too long for a label value", metadata: { uid }, sa: "s".repeat(64), deletes: [false, false, true] },
  { name: "no UID", metadata: {}, sa: "cart", deletes: [true, true, true] },
  { name: "labels that are no texts", metadata: { uid, labels: { a: {} } }, sa: "cart", deletes: [true, true, true] },
];
for (const { name, metadata, sa, deletes } of invalid) {
  test(`service account: ${name}`, () => {
    const { kvs, problems } = createServiceAccountProcessor().set({ namespace: "shop", name: sa }, "1", { metadata });
    deepEqual(
      kvs.map(({ value }) => value === undefined),
      deletes,
    );
    equal(problems.length, 1);
  });
}

test("a deletion takes all three away", () => {
  const { kvs } = createNamespaceProcessor().delete({ namespace: "", name: "shop" });
  deepEqual(
    kvs.map(({ value, revision }) => [value, revision]),
    [
      [undefined, ""],
      [undefined, ""],
      [undefined, ""],
    ],
  );
});

test("the built-in profile allows all and has no labels", () => {
  deepEqual(
    defaultAllowKvs.map(({ value, revision }) => [value !== undefined, revision]),
    [
      [false, ""],
      [true, "1"],
      [true, "1"],
    ],
  );
});
