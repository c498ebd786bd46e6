// Whatever is written into a manifest or under an etcd key: an object, or a problem in words; never a crash.
import { doesNotThrow, equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readManifests } from "../../src/calico/datastore/directory/read-manifests.ts";
import { keyToId } from "../../src/calico/datastore/etcd/keys.ts";
import { readObject } from "../../src/calico/datastore/etcd/values.ts";
import type { Revision } from "../../src/calico/datastore/index.ts";
import { kindInfo, kindNames } from "../../src/calico/kinds/index.ts";

const inEtcd = kindNames.filter((kind) => kindInfo(kind).etcdPrefix !== undefined);
const id = { namespace: "", name: "a" };

// Pieces that mean something to YAML, so that random texts get past its first line.
const piece = fc.constantFrom(
  ..."apiVersion: v1\n|kind: Node\n|kind: List\n|items:\n|- |  |metadata: {name: a}\n|---\n|...\n|&a |*a|<<: *a\n|!!binary x\n|[|]|{|}|\"|'|: |# x\n|%TAG ! x\n|\t|\u0000|__proto__: {}\n|0x7fffffffffffffff\n|.nan\n|? |>\n|2026-11-15\n".split(
    "|",
  ),
  "|\n",
);

test("fuzz: any text as a manifest is objects or complaints", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join("")),
      ),
      (text) => {
        const { objects, errors } = readManifests(text);
        for (const { line, column } of errors) equal(line >= 1 && column >= 1, true);
        for (const object of objects) equal(object.id.name !== "", true);
      },
    ),
    { numRuns: 3_000 },
  );
});

test("fuzz: a good manifest with one character changed is objects or complaints", () => {
  const good =
    "apiVersion: projectcalico.org/v3\nkind: Tier\nmetadata:\n  name: a\nspec: {order: 1, x: [1, 2]}\n---\n{}\n";
  fc.assert(
    fc.property(fc.nat(good.length), fc.string({ maxLength: 3 }), (at, inserted) => {
      doesNotThrow(() => readManifests(good.slice(0, at) + inserted + good.slice(at + 1)));
    }),
    { numRuns: 2_000 },
  );
});

test("fuzz: any bytes under an etcd key are a value or a problem", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc.json().map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        const { value, problem } = readObject(id, "1" as Revision, bytes);
        equal(value === undefined, problem !== undefined);
      },
    ),
    { numRuns: 3_000 },
  );
});

test("fuzz: any key below any prefix is one of the kind's, or is passed over", () => {
  fc.assert(
    fc.property(fc.constantFrom(...inEtcd), fc.string({ maxLength: 60 }), (kind, tail) => {
      const found = keyToId(kind, `${kindInfo(kind).etcdPrefix}${tail}`);
      if (found !== undefined) equal(tail, found.namespace === "" ? found.name : `${found.namespace}/${found.name}`);
    }),
    { numRuns: 3_000 },
  );
});
