import { deepEqual, equal } from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { legacyForm } from "./legacy-policy.ts";
import { type KvUpdate, updateType } from "./update.ts";

const update = (path: string, value: string | undefined): KvUpdate => ({
  path: `/calico/v1/policy/${path}`,
  value,
  revision: "7",
  v3ResourceVersion: "",
  type: updateType.new,
});

const cases: { name: string; path: string; value: string; legacyPath: string; legacyValue: string }[] = [
  {
    name: "a global policy",
    path: "GlobalNetworkPolicy//allow",
    value: '{"tier":"default","order":1,"selector":""}',
    legacyPath: "default/policy/allow",
    legacyValue: '{"order":1,"selector":""}',
  },
  {
    name: "a global policy of a tier",
    path: "GlobalNetworkPolicy//sec.allow",
    value: '{"tier":"sec","selector":"a == \\"b\\""}',
    legacyPath: "sec/policy/sec.allow",
    legacyValue: '{"selector":"a == \\"b\\""}',
  },
  {
    name: "a namespaced policy",
    path: "NetworkPolicy/shop/web",
    value: '{"namespace":"shop","tier":"default","selector":""}',
    legacyPath: "default/policy/shop%2fweb",
    legacyValue: '{"namespace":"shop","selector":""}',
  },
  {
    name: "a copy of a Kubernetes policy, as etcd holds it",
    path: "NetworkPolicy/shop/knp.default.web",
    value: '{"namespace":"shop","tier":"default","selector":""}',
    legacyPath: "default/policy/shop%2fknp.default.web",
    legacyValue: '{"namespace":"shop","selector":""}',
  },
  {
    name: "a Kubernetes policy",
    path: "KubernetesNetworkPolicy/shop/a.b",
    value: '{"namespace":"shop","tier":"default","order":1000,"selector":""}',
    legacyPath: "default/policy/shop%2fknp.default.a.b",
    legacyValue: '{"namespace":"shop","order":1000,"selector":""}',
  },
  {
    name: "a staged policy",
    path: "StagedNetworkPolicy/shop/sec.web",
    value: '{"namespace":"shop","tier":"sec","selector":""}',
    legacyPath: "sec/policy/shop%2fstaged:sec.web",
    legacyValue: '{"namespace":"shop","selector":""}',
  },
  {
    name: "a staged Kubernetes policy",
    path: "StagedKubernetesNetworkPolicy/shop/web",
    value: '{"namespace":"shop","tier":"default","selector":""}',
    legacyPath: "default/policy/shop%2fstaged:knp.default.web",
    legacyValue: '{"namespace":"shop","selector":""}',
  },
  {
    name: "a staged global policy",
    path: "StagedGlobalNetworkPolicy//web",
    value: '{"tier":"default","order":1e-7,"selector":""}',
    legacyPath: "default/policy/staged:web",
    legacyValue: '{"order":1e-07,"selector":""}',
  },
];
for (const { name, path, value, legacyPath, legacyValue } of cases) {
  test(`the old form of ${name}`, () => {
    const expected = { ...update(path, value), path: `/calico/v1/policy/tier/${legacyPath}`, value: legacyValue };
    deepEqual(legacyForm(update(path, value)), { is: "legacy", update: expected });
  });
}

test("a deletion has the old name too", () => {
  const form = legacyForm(update("NetworkPolicy/shop/web", undefined));
  equal(form.is === "legacy" && form.update.path, "/calico/v1/policy/tier/default/policy/shop%2fweb");
});

test("a tier that the name does not say is lost, and that is said", () => {
  const form = legacyForm(update("GlobalNetworkPolicy//nopfx", '{"tier":"sec","selector":""}'));
  equal(form.is === "legacy" && form.update.path, "/calico/v1/policy/tier/default/policy/nopfx");
  equal(form.is === "legacy" && form.why !== undefined, true);
});

test("a ClusterNetworkPolicy cannot be said", () => {
  equal(legacyForm(update("KubernetesClusterNetworkPolicy//adm", '{"tier":"kube-admin"}')).is, "unsayable");
});

test("tiers, profiles' rules and everything else stay as they are", () => {
  for (const path of ["tier/sec/metadata", "profile/kns.shop/rules"]) {
    deepEqual(legacyForm(update(path, "{}")), { is: "same" });
  }
});

// Entries without a staged_action, which the CRDs of v3.31 did not yet fill in.
const olderCrd = new Set([
  "/calico/v1/policy/tier/default/policy/staged:noaction",
  "/calico/v1/policy/tier/default/policy/pol%2fstaged:knp.default.egress",
]);
const cases331 = "test/vectors/golden/cases";
type Recording = { kvs: { key: string; value: string | null; revision: string; v3rv: string }[] };
const recordings = globSync(`${cases331}/*/expect-felix.legacy.json`);

test("there are recordings of the old server", () => equal(recordings.length > 0, true));
for (const file of recordings) {
  test(`what the old server sent: ${file.split("/").at(-2)}`, () => {
    const read = (path: string): Recording => JSON.parse(readFileSync(path, "utf8"));
    const modern = read(file.replace(".legacy", ""));
    const ours = modern.kvs.map(({ key, value }) => {
      const whole: KvUpdate = { path: key, value: value ?? undefined, revision: "", v3ResourceVersion: "", type: 1 };
      const form = legacyForm(whole);
      return form.is === "legacy" ? form.update : whole;
    });
    const byPath = new Map(ours.map(({ path, value }) => [path, value ?? null]));
    const theirs = read(file).kvs.filter(({ key }) => !olderCrd.has(key));
    for (const { key, value } of theirs) equal(byPath.get(key), value, key);
    equal(byPath.size, read(file).kvs.length);
  });
}
