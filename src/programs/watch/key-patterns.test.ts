import { equal } from "node:assert/strict";
import { test } from "node:test";
import { patternMatcher } from "./key-patterns.ts";

const cases: [pattern: string, path: string, matches: boolean][] = [
  ["/calico/v1/*", "/calico/v1/Ready", true],
  ["/calico/v1/Ready", "/calico/v1/Ready", true],
  ["/calico/v1/Ready", "/calico/v1/ReadyNot", false],
  ["*web*", "/calico/v1/host/n/workload/k8s/shop%2fweb-0/endpoint/eth0", true],
  ["/a*b*c", "/a-b-c", true],
  ["/a*b*c", "/a-c-b", false],
  ["/aa*a", "/aa", false],
  ["*", "", true],
];
for (const [pattern, path, matches] of cases) {
  test(`--keys '${pattern}' ${matches ? "matches" : "does not match"} ${path}`, () =>
    equal(patternMatcher([pattern])(path), matches));
}
test("without --keys every key is wanted", () => equal(patternMatcher([])("/x"), true));
