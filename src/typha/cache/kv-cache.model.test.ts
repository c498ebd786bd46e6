// Random event orders against a plain Map: readers of both dialects at random speeds, who come and go, always end with
// the cache's state, never see a key go back in time and never see a deleted key again. Seeds are printed on failure.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../base/lib/index.ts";
import { type KvUpdate, updateType } from "../../calico/model/basics.ts";
import { type CacheCodec, type Dialect, KvCache, type LegacyForm } from "./index.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const codec: CacheCodec = {
  encode(update) {
    const head = `${update.path}=${update.value ?? ""}`;
    return { bytes: encoder.encode(`${head};${update.revision}\n`), valueEnd: encoder.encode(head).length };
  },
  message(pieces, allocate) {
    const text = encoder.encode(pieces.map(({ bytes, type }) => `${type} ${decoder.decode(bytes)}`).join(""));
    const memory = allocate(text.length);
    memory.set(text);
    return memory;
  },
  compress(plain, _compression, allocate) {
    const memory = allocate(plain.length);
    memory.set(plain);
    return memory;
  },
  allocate: (size) => new Uint8Array(size),
};

// A value is "<version> <how legacy clients know it>".
const legacyForm: LegacyForm = (update) => {
  if (!update.path.startsWith("/p")) return update;
  if (update.value === undefined) return undefined;
  const how = update.value.split(" ")[1] ?? "";
  if (how === "same") return update;
  if (how === "none") return undefined;
  return { ...update, path: `/tier/${how}${update.path}` };
};

type Random = (below: number) => number;
function randomFrom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

class Reader {
  readonly state = new Map<string, string>();
  readonly #newestSeen = new Map<string, number>();
  readonly dialect: Dialect;
  position = 0;

  constructor(dialect: Dialect) {
    this.dialect = dialect;
  }

  start(cache: KvCache): void {
    const { snapshot } = cache.snapshot(`${this.dialect}/none`);
    this.#read(Buffer.concat(snapshot.parts), "snapshot");
    this.position = snapshot.position;
    cache.release(snapshot);
  }

  step(cache: KvCache): void {
    const changes = cache.changesSince(this.position, `${this.dialect}/none`);
    ok(changes !== "forgotten", "a reader that is counted is never forgotten");
    equal(changes.from, this.position);
    ok(changes.to >= this.position);
    this.#read(changes.bytes, "changes");
    this.position = changes.to;
  }

  #read(bytes: Uint8Array, from: "snapshot" | "changes"): void {
    for (const line of decoder.decode(bytes).split("\n").slice(0, -1)) {
      const [, type, path = "", value = "", revision] = /^(\d) ([^=]*)=(.*);(.*)$/.exec(line) ?? [];
      // Deletions made for legacy names carry no revision; versions of a name are those of its policy.
      const version = Number(revision);
      if (version > 0) {
        ok(
          version >= (this.#newestSeen.get(path) ?? 0),
          `${path} went back from ${this.#newestSeen.get(path)} to ${version}`,
        );
        this.#newestSeen.set(path, version);
      }
      if (from === "snapshot") equal(type, "1");
      if (value === "") this.state.delete(path);
      else this.state.set(path, value);
    }
  }
}

for (let seed = 1; seed <= 150; seed += 1) {
  test(`readers at random speeds end with the same map (seed ${seed})`, () => {
    const random = randomFrom(seed);
    let nowMs = 0;
    const clock = { ...systemClock, monotonicMs: () => nowMs };
    const limits = { maxMessageKvs: 1 + random(5), maxStepKvs: 1 + random(8) };
    const cache = new KvCache({ codec, clock, legacyForm, limits });
    const model = { modern: new Map<string, string>(), legacy: new Map<string, string>() };
    const readers: Reader[] = [];
    let version = 0;
    for (let round = 0; round < 400; round += 1) {
      nowMs += random(300);
      const dice = random(10);
      if (dice < 6) cache.apply({ updates: Array.from({ length: 1 + random(4) }, randomUpdate) });
      else if (dice === 6 && readers.length < 8) {
        const reader = new Reader(random(2) === 0 ? "modern" : "legacy");
        reader.start(cache);
        readers.push(reader);
      } else if (dice === 7 && readers.length > 0) readers.splice(random(readers.length), 1);
      else if (dice === 8) {
        const byAll = Math.min(cache.head, ...readers.map(({ position }) => position));
        cache.tidy({ byAll, published: cache.head }, () => random(2) === 0);
      }
      for (const reader of readers) if (random(3) === 0) reader.step(cache);
    }
    for (const reader of readers) {
      while (reader.position < cache.head) reader.step(cache);
      deepEqual(sorted(reader.state), sorted(model[reader.dialect]));
    }
    for (const dialect of ["modern", "legacy"] as const) {
      nowMs += 2000;
      const late = new Reader(dialect);
      late.start(cache);
      deepEqual(sorted(late.state), sorted(model[dialect]));
    }
    equal(cache.size, model.modern.size);

    function randomUpdate(): KvUpdate {
      version += 1;
      const path = random(2) === 0 ? `/k${random(12)}` : `/p${random(6)}`;
      const how = ["same", "none", "a", "b"][random(4)] ?? "";
      const known = model.modern.get(path);
      const isGone = random(4) === 0;
      // Sometimes the same value again, which must be skipped without harm.
      const value = isGone ? undefined : known !== undefined && random(4) === 0 ? known : `${version} ${how}`;
      const said = known === undefined ? updateType.new : updateType.updated;
      const type = isGone && random(3) > 0 ? updateType.deleted : said;
      const update: KvUpdate = { path, value, revision: `${version}`, v3ResourceVersion: "", type };
      if (value === undefined) model.modern.delete(path);
      else model.modern.set(path, value);
      for (const name of [path, `/tier/a${path}`, `/tier/b${path}`]) model.legacy.delete(name);
      const legacy = legacyForm(update);
      if (value !== undefined && legacy?.value !== undefined) model.legacy.set(legacy.path, legacy.value);
      return update;
    }
  });
}

function sorted(map: Map<string, string>): [string, string][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
