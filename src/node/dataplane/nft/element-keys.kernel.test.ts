// The kernel holds the same elements, whether nft was told of them or they were changed without it.
import { deepEqual, equal, match } from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { test } from "node:test";
import { freshNamespace, noNamespaces } from "../../../../test/kit/namespace.ts";
import { openNftables, openSetElements } from "../../../base/linux/kernel.ts";
import { type ElementChange, setChanges } from "./element-keys.ts";
import { coverOf } from "./set-contents.ts";

const skip = noNamespaces || (spawnSync("nft", ["--version"]).status === 0 ? false : "needs nft");
const table = { family: "inet", name: "t" } as const;
const withIntervals = (version: 4 | 6) => `type ipv${version}_addr; flags interval;`;
const withPorts = (version: 4 | 6) => `type ipv${version}_addr . inet_proto . inet_service;`;

const cases: readonly {
  readonly what: string;
  readonly declaration: string;
  readonly before: readonly string[];
  readonly change: { readonly isEmptied: boolean; readonly added: readonly string[] };
}[] = [
  {
    what: "the first elements of a set, neighbours among them",
    declaration: withIntervals(4),
    before: [],
    change: { isEmptied: false, added: ["10.0.0.2", "10.0.0.1", "10.0.0.8/29", "255.255.255.254"] },
  },
  {
    what: "elements between others",
    declaration: withIntervals(4),
    before: ["10.0.0.1", "10.0.0.3", "10.0.0.16/28"],
    change: { isEmptied: false, added: ["10.0.0.2", "10.0.0.255", "10.0.0.8/29"] },
  },
  {
    what: "other elements in the place of all, from the first address on",
    declaration: withIntervals(4),
    before: ["10.0.0.1", "10.0.0.3"],
    change: { isEmptied: true, added: ["128.0.0.0/2", "0.0.0.0/1"] },
  },
  {
    what: "none any more",
    declaration: withIntervals(4),
    before: ["10.0.0.1"],
    change: { isEmptied: true, added: [] },
  },
  {
    what: "networks of IPv6",
    declaration: withIntervals(6),
    before: ["fd00::1", "2001:db8::/32"],
    change: {
      isEmptied: true,
      added: ["fd00::ffff:ffff:ffff:ffff", "fd00:0:0:1::/64", "::1", "fe80::/10"],
    },
  },
  {
    what: "ports",
    declaration: withPorts(4),
    before: ["10.0.0.1 . 6 . 80"],
    change: { isEmptied: true, added: ["10.0.0.1 . 17 . 53", "10.0.0.2 . 6 . 65535"] },
  },
  {
    what: "ports of IPv6",
    declaration: withPorts(6),
    before: [],
    change: { isEmptied: false, added: ["fd00::1 . 132 . 1", "fd00::1 . 6 . 8080"] },
  },
];

for (const { what, declaration, before, change } of cases)
  test(`${what}: as nft does it`, { skip }, () => {
    const { name, path } = freshNamespace();
    using nft = openNftables({ namespace: path });
    const filled = (elements: readonly string[]) =>
      elements.length === 0 ? "" : ` elements = { ${elements.join(", ")} }`;
    const make = (set: string) => `add set inet t ${set} { ${declaration}${filled(before)} }\n`;
    equal(nft.run(`add table inet t\n${make("theirs")}${make("ours")}`), undefined);

    const again = `${change.isEmptied ? "flush set inet t theirs\n" : ""}add set inet t theirs { ${declaration}${filled(change.added)} }\n`;
    equal(nft.run(again), undefined);
    equal(
      changed(path, [{ set: "ours", declaration, startsEmpty: change.isEmptied || before.length === 0, ...change }]),
      undefined,
    );
    deepEqual(heldBy(name, "ours"), heldBy(name, "theirs"));
  });

test("random networks, a few at a time: as nft does it", { skip }, () => {
  const { name, path } = freshNamespace();
  using nft = openNftables({ namespace: path });
  let state = 7;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
  const declaration = withIntervals(4);
  equal(
    nft.run(`add table inet t\nadd set inet t theirs { ${declaration} }\nadd set inet t ours { ${declaration} }\n`),
    undefined,
  );
  let held: readonly string[] = [];
  for (let round = 0; round < 60; round += 1) {
    const drawn = Array.from({ length: 1 + random(8) }, () => `10.0.${random(2)}.${random(32)}/${27 + random(6)}`);
    const all = coverOf([...held, ...drawn]);
    const isEmptied = random(2) === 0 || held.some((net) => !all.includes(net));
    const now = isEmptied && random(3) === 0 ? coverOf(drawn) : all;
    const added = isEmptied ? now : now.filter((net) => !held.includes(net));
    const emptied = isEmptied ? "flush set inet t theirs\n" : "";
    if (added.length > 0 || isEmptied)
      equal(
        nft.run(`${emptied}add set inet t theirs { ${declaration} elements = { ${added.join(", ")} } }\n`),
        undefined,
      );
    equal(
      changed(path, [{ set: "ours", declaration, isEmptied, startsEmpty: isEmptied || held.length === 0, added }]),
      undefined,
    );
    deepEqual(heldBy(name, "ours"), heldBy(name, "theirs"));
    held = now;
  }
});

test("several sets change together, or none of them", { skip }, () => {
  const { name, path } = freshNamespace();
  using nft = openNftables({ namespace: path });
  const declaration = withIntervals(4);
  const set = (of: string) => `add set inet t ${of} { ${declaration} elements = { 10.0.0.1 } }\n`;
  equal(nft.run(`add table inet t\n${set("a")}${set("b")}`), undefined);
  const change = (of: string) => ({ set: of, declaration, isEmptied: true, startsEmpty: true, added: ["10.0.0.9"] });
  const before = heldBy(name, "a");
  match(changed(path, [change("a"), change("none")]) ?? "", /ENOENT/);
  deepEqual(heldBy(name, "a"), before);
  equal(changed(path, [change("a"), change("b")]), undefined);
  deepEqual(heldBy(name, "a"), heldBy(name, "b"));
  match(heldBy(name, "a").join(), /0900000a/);
});

test("what is not understood, and what is many, is left to nft", () => {
  const change = { set: "s", isEmptied: false, startsEmpty: true };
  const declared = (declaration: string, ...added: string[]) => setChanges([{ ...change, declaration, added }]);
  equal(declared("type ifname . ipv4_addr;", '"cali1" . 10.0.0.1'), undefined);
  equal(declared(withIntervals(4), "fd00::1"), undefined);
  equal(declared(withIntervals(4), "0.0.0.0/0"), undefined);
  equal(declared(withIntervals(4), "10.0.0.1-10.0.0.5"), undefined);
  for (const last of ["255.255.255.255", "128.0.0.0/1"]) equal(declared(withIntervals(4), last), undefined);
  equal(declared(withIntervals(6), "ff00::/8"), undefined);
  equal(declared(withPorts(4), "10.0.0.0/24 . 6 . 80"), undefined);
  equal(declared(withPorts(4), "10.0.0.1 . 6 . 65536"), undefined);
  const many = Array.from({ length: 501 }, (_, at) => `10.0.${at >> 8}.${at & 255}`);
  equal(declared(withIntervals(4), ...many), undefined);
});

function changed(namespace: string, changes: readonly ElementChange[]): string | undefined {
  using sets = openSetElements({ namespace });
  const keys = setChanges(changes);
  return keys === undefined ? "not understood" : sets.change(table, keys);
}

/** As the kernel tells it: bytes and flags of each element. */
function heldBy(namespace: string, set: string): readonly string[] {
  const said = execFileSync(
    "ip",
    ["netns", "exec", namespace, "nft", "--debug=netlink", "list", "set", "inet", "t", set],
    {
      encoding: "utf8",
    },
  );
  return said
    .split("\n")
    .filter((line) => /^\s*element /.test(line))
    .map((line) => line.trim())
    .sort();
}
