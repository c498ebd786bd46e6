import { equal, match, notEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Kind, kindNames } from "../../kinds/index.ts";
import { escapeName, fileNameOf, isPassingName, unescapeName } from "./file-names.ts";

const cases: { name: string; kind: Kind; id: { namespace: string; name: string }; file: string }[] = [
  { name: "without a namespace", kind: "Tier", id: { namespace: "", name: "default" }, file: "tiers/default.yaml" },
  {
    name: "with one",
    kind: "NetworkPolicy",
    id: { namespace: "shop", name: "default.allow-dns" },
    file: "networkpolicies/shop/default.allow-dns.yaml",
  },
  {
    name: "a kind that shares its plural with Calico's",
    kind: "KubernetesNetworkPolicy",
    id: { namespace: "shop", name: "allow" },
    file: "networkpolicies.networking.k8s.io/shop/allow.yaml",
  },
  { name: "upper case", kind: "Tier", id: { namespace: "", name: "A" }, file: "tiers/%41.yaml" },
  { name: "a way out", kind: "Tier", id: { namespace: "", name: ".." }, file: "tiers/%2e..yaml" },
  { name: "a hidden one", kind: "Tier", id: { namespace: "", name: ".git" }, file: "tiers/%2egit.yaml" },
  { name: "a way up", kind: "Pod", id: { namespace: "..", name: "a\\b" }, file: "pods/%2e./a%5cb.yaml" },
];
for (const { name, kind, id, file } of cases) test(`file name: ${name}`, () => equal(fileNameOf(kind, id), file));

test("every name comes back, and no two share a file, whatever the case", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", maxLength: 20 }),
      fc.string({ unit: "grapheme", maxLength: 20 }),
      (a, b) => {
        equal(unescapeName(escapeName(a)), a);
        if (a !== b) notEqual(escapeName(a).toLowerCase(), escapeName(b).toLowerCase());
        match(escapeName(a), /^(?:[a-z0-9_%-][a-z0-9._%-]*)?$/);
      },
    ),
  );
});

test("long names stay within what a file system takes, and apart", () => {
  const long = "\u{1F408}".repeat(253);
  ok(fileNameOf("Tier", { namespace: "", name: long }).length < 240);
  notEqual(escapeName(long), escapeName(`${long}x`));
  ok(fileNameOf("Tier", { namespace: "", name: "a".repeat(253) }).length < 240);
});

test("every kind has a folder of its own, but for the two names of one", () => {
  const folders = new Map(kindNames.map((kind) => [kind, fileNameOf(kind, { namespace: "", name: "x" })]));
  equal(folders.get("IPAMConfiguration"), folders.get("IPAMConfig"));
  equal(new Set(folders.values()).size, folders.size - 1);
});

test("what editors leave behind is passed over", () => {
  for (const name of [
    ".a.yaml.swp",
    "a.yaml~",
    "#a.yaml#",
    "a.yaml.tmp",
    ".a.yaml.0123456789abcdef.tmp",
    "4913~",
    "a.yaml.orig",
  ])
    ok(isPassingName(name), name);
  for (const name of ["a.yaml", "b.json", "tilde~in.yaml"]) ok(!isPassingName(name), name);
});
