// What the licence check lets pass. That the dependencies of today pass is a step of its own (tools/steps.ts).
import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { isAllowed, judge } from "./licences.ts";
import { developmentPackages, type Lockfile, runtimePackages } from "./lockfile.ts";

describe("a licence is allowed when its expression can be met from the list", () => {
  for (const { expression, allowed } of [
    { expression: "MIT", allowed: true },
    { expression: "GPL-3.0-only", allowed: false },
    { expression: "MIT OR GPL-3.0-only", allowed: true },
    { expression: "(MIT OR Apache-2.0)", allowed: true },
    { expression: "MIT AND GPL-3.0-only", allowed: false },
    { expression: "MIT AND ISC", allowed: true },
    { expression: "SEE LICENSE IN LICENSE.txt", allowed: false },
    { expression: "unknown", allowed: false },
    { expression: "", allowed: false },
  ]) {
    test(JSON.stringify(expression), () => equal(isAllowed(expression, ["MIT", "Apache-2.0", "ISC"]), allowed));
  }
});

const lock: Lockfile = {
  packages: {
    "": { dependencies: { a: "1" }, devDependencies: { c: "1", own: "file:own" } },
    "node_modules/a": {
      version: "1.0.0",
      license: "MIT",
      dependencies: { b: "2" },
      optionalDependencies: { gone: "1" },
    },
    "node_modules/a/node_modules/b": { version: "2.0.0", license: "GPL-3.0-only" },
    "node_modules/b": { version: "1.0.0", license: "MIT" },
    "node_modules/c": { version: "1.0.0", dependencies: { b: "1", a: "1" } },
    "node_modules/own": { link: true, resolved: "own" },
    own: { version: "1.0.0", dependencies: { d: "1" } },
    "node_modules/d": { version: "1.0.0", license: "ISC" },
  },
};

test("users get what the dependencies lead to, in the version that each one finds", () => {
  const found = runtimePackages(lock).map(({ name, version }) => `${name}@${version}`);
  deepEqual(found, ["a@1.0.0", "b@2.0.0"]);
});

test("developers get the rest, through folders of our own as well", () => {
  const found = developmentPackages(lock).map(({ path }) => path);
  deepEqual(found, ["node_modules/b", "node_modules/c", "node_modules/d"]);
});

test("a package without a licence, or with one that is not on the list, is found", () => {
  const findings = judge([...runtimePackages(lock), ...developmentPackages(lock)], ["MIT", "ISC"], "no-such-folder");
  const bad = findings.filter(({ isAllowed }) => !isAllowed).map(({ name, licence }) => `${name} ${licence}`);
  deepEqual(bad, ["b@2.0.0 GPL-3.0-only", "c@1.0.0 unknown"]);
});
