// Which BIRD it is.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { readVersion, versionAnswered, versionPrinted } from "./version.ts";

const versions: { text: string; generation: 1 | 2 | undefined; isFork?: boolean }[] = [
  { text: "2.0.12", generation: 2 },
  { text: "2.17.1", generation: 2 },
  { text: "2.0.12-7+deb12", generation: 2 },
  { text: "1.6.8", generation: 1 },
  { text: "v0.3.3+birdv1.6.8", generation: 1, isFork: true },
  { text: "3.1.2", generation: 2 },
  { text: "0.9", generation: undefined },
  { text: "", generation: undefined },
];
for (const { text, generation, isFork = false } of versions) {
  test(`versions: ${JSON.stringify(text)}`, () => {
    deepEqual(readVersion(text), generation === undefined ? undefined : { text, generation, isFork });
  });
}

test("versions: as a program prints it, and as a daemon answers", () => {
  equal(versionPrinted("BIRD version 2.0.12\n")?.text, "2.0.12");
  equal(versionPrinted("busybox"), undefined);
  equal(versionAnswered([{ code: 1000, text: "BIRD v0.3.3+birdv1.6.8" }])?.isFork, true);
  equal(versionAnswered([{ code: 13, text: "up" }]), undefined);
});
