import { equal } from "node:assert/strict";
import { test } from "node:test";
import { clientVersion, cutVersion, isSpoken } from "./versions.ts";

const cases: { version: string; is: boolean }[] = [
  { version: "v3.20.0", is: true },
  { version: "v3.33.0", is: true },
  { version: "v3.28.1-0.dev-12-gabcdef", is: true },
  { version: "3.23", is: true },
  { version: "v3.33.99", is: true },
  { version: "v3.19.4", is: false },
  { version: "v3.34.0", is: false },
  { version: "v3.8.0", is: false },
  { version: "v3.200.0", is: false },
  { version: "v2.25.0", is: false },
  { version: "v4.20.0", is: false },
  { version: "master", is: false },
  { version: "v3.25x", is: false },
  { version: "v", is: false },
];
for (const { version, is } of cases)
  test(`Calico ${version} is ${is ? "spoken" : "not spoken"}`, () => equal(isSpoken(version), is));

test("our own version is one that we speak, and names us", () => {
  equal(clientVersion("v1.2.3"), "v3.33.0-cattail-1.2.3");
  equal(isSpoken(clientVersion("v1.2.3")), true);
  equal(cutVersion(clientVersion("v1.2.3")), "3.33.0");
});
