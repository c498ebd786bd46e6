import { equal } from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { createShortSha1 } from "./sha1.ts";

test("the names the real Typha gave", () => {
  const shortSha1 = createShortSha1();
  equal(shortSha1("shop.web-0"), "a4fc3c48bd8");
  equal(shortSha1("n.p"), "f5eabdd6c90");
});

test("any text hashes as node:crypto hashes it", () => {
  const shortSha1 = createShortSha1();
  const texts = fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.string({ minLength: 50, maxLength: 70 }));
  fc.assert(
    fc.property(texts, (text) => {
      equal(shortSha1(text), createHash("sha1").update(text.toWellFormed()).digest("hex").slice(0, 11));
    }),
  );
});
