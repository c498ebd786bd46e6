import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { followRules, kindInfo, rulesFor, usesOf } from "./index.ts";

test("Typha writes the two kinds that it sets up, and nothing else", () => {
  deepEqual(rulesFor("typha", "crd.projectcalico.org"), [
    { apiGroups: ["crd.projectcalico.org"], resources: ["clusterinformations"], verbs: ["get", "create", "update"] },
    { apiGroups: ["crd.projectcalico.org"], resources: ["tiers"], verbs: ["get", "create"] },
  ]);
});

test("what Typha follows is one rule for each group", () => {
  const groups = followRules("projectcalico.org").flatMap(({ apiGroups }) => apiGroups);
  deepEqual(groups, [
    "projectcalico.org",
    "",
    "discovery.k8s.io",
    "networking.k8s.io",
    "policy.networking.k8s.io",
    "kubevirt.io",
  ]);
});

test("a kind that the new group calls otherwise has its other name there", () => {
  const named = (group: "crd.projectcalico.org" | "projectcalico.org") =>
    rulesFor("cni", group).flatMap(({ resources }) => resources.filter((name) => name.startsWith("ipamconfig")));
  deepEqual(named("crd.projectcalico.org"), ["ipamconfigs"]);
  deepEqual(named("projectcalico.org"), ["ipamconfigurations"]);
});

test("the CNI plugin may do what a recorded original needs: pods, nodes and namespaces are read, a pod's status is patched", () => {
  const core = rulesFor("cni", "crd.projectcalico.org").filter(({ apiGroups }) => apiGroups[0] === "");
  deepEqual(core, [
    { apiGroups: [""], resources: ["namespaces", "nodes", "pods"], verbs: ["get"] },
    { apiGroups: [""], resources: ["pods/status"], verbs: ["patch"] },
  ]);
});

for (const role of ["typha", "node", "cni", "ctl"] as const) {
  test(`every right of ${role} is of a kind that Kubernetes serves, and is said once`, () => {
    const uses = usesOf(role);
    ok(uses.length > 0);
    for (const { kind } of uses) ok(kindInfo(kind).kubernetes !== undefined, kind);
    const said = uses.map(({ kind, verb, of }) => `${kind} ${verb} ${of}`);
    deepEqual([...new Set(said)], said);
  });
}
