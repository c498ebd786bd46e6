// Names that Felix computes too.
import { equal } from "node:assert/strict";
import { test } from "node:test";
import { hostSideName, interfacePrefix } from "./names.ts";

test("a pod's interface is named after the pod, and any other after its container", () => {
  equal(hostSideName("cali", { pod: { namespace: "default", name: "p1" }, containerId: "c1" }), "cali182c452fe96");
  equal(hostSideName("cali", { pod: undefined, containerId: "c0ffee123456789" }), "calic0ffee12345");
});

test("the first of several prefixes is for pods", () => {
  equal(interfacePrefix(undefined), "cali");
  equal(interfacePrefix(""), "cali");
  equal(interfacePrefix("eni,cali"), "eni");
  equal(interfacePrefix(",x"), "cali");
});
