import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../base/lib/index.ts";
import { type KvUpdate, updateType } from "../../calico/model/basics.ts";
import type { CacheCodec } from "./codec.ts";
import { KvCache } from "./kv-cache.ts";

const codec: CacheCodec = {
  encode: (update) => ({ bytes: new TextEncoder().encode(`${update.path}=${update.value ?? ""}`), valueEnd: 0 }),
  message: () => new Uint8Array(),
  compress: (plain) => plain,
  allocate: (size) => new Uint8Array(size),
};
const makeCache = () => new KvCache({ codec, clock: systemClock, legacyForm: (update) => update });
const set = (path: string, value = "1"): KvUpdate => ({
  path,
  value,
  revision: "1",
  v3ResourceVersion: "",
  type: updateType.new,
});
const gone = (path: string): KvUpdate => ({ ...set(path), value: undefined, revision: "", type: updateType.deleted });
const pathsOf = (cache: KvCache) => cache.keys().map(({ path }) => path);

const cases: { name: string; steps: KvUpdate[][]; paths: string[] }[] = [
  { name: "all of an unsorted start", steps: [[set("c"), set("a"), set("b")]], paths: ["a", "b", "c"] },
  {
    name: "what came later, in its place",
    steps: [
      [set("b"), set("d")],
      [set("c"), set("a"), set("e")],
    ],
    paths: ["a", "b", "c", "d", "e"],
  },
  { name: "nothing that is gone", steps: [[set("a"), set("b")], [gone("a")]], paths: ["b"] },
  {
    name: "once what went and came back",
    steps: [[set("a"), set("b")], [gone("a"), set("a")], [set("b", "2")]],
    paths: ["a", "b"],
  },
  { name: "nothing that came and went between two looks", steps: [[set("a")], [set("b"), gone("b")]], paths: ["a"] },
];

for (const { name, steps, paths } of cases) {
  test(`the keys in order hold ${name}`, () => {
    const cache = makeCache();
    for (const updates of steps) {
      cache.apply({ updates });
      pathsOf(cache); // a look in between is what makes the next one incremental
    }
    deepEqual(pathsOf(cache), paths);
  });
}

test("a deletion that was forgotten and a key made anew are one key", () => {
  const cache = makeCache();
  cache.apply({ updates: [set("a"), set("b")] });
  equal(pathsOf(cache).length, 2);
  cache.apply({ updates: [gone("a")] });
  cache.tidy({ byAll: cache.head, published: cache.head }, () => false);
  cache.apply({ updates: [set("a", "2")] });
  deepEqual(pathsOf(cache), ["a", "b"]);
});

test("a key that is gone is found while its deletion is remembered", () => {
  const cache = makeCache();
  cache.apply({ updates: [set("a")] });
  const key = cache.find("a");
  equal(key === undefined ? "" : new TextDecoder().decode(cache.pieceOf(key)), "a=1");
  cache.apply({ updates: [gone("a")] });
  equal(cache.find("a")?.isLive, false);
  equal(cache.find("z"), undefined);
});

test("whatever happens between two looks, the keys in order are those that are live", () => {
  let seed = 20_261_115;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const cache = makeCache();
  const live = new Set<string>();
  for (let look = 0; look < 200; look += 1) {
    for (let change = random(look % 10 === 0 ? 400 : 12); change >= 0; change -= 1) {
      const path = `key-${random(300)}`;
      if (random(3) === 0) live.delete(path);
      else live.add(path);
      cache.apply({ updates: [live.has(path) ? set(path, `${change}`) : gone(path)] });
      if (random(20) === 0) cache.tidy({ byAll: cache.head, published: cache.head }, () => false);
    }
    deepEqual(pathsOf(cache), [...live].sort());
  }
});
