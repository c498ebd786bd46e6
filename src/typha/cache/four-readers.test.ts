// The original's own case: four readers of a stream of updates, each at its own pace, all end with the same state.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { textCodec } from "../../../test/kit/text-codec.ts";
import { systemClock } from "../../base/lib/index.ts";
import { type KvUpdate, updateType } from "../../calico/model/basics.ts";
import { KvCache } from "./index.ts";

const decoder = new TextDecoder();
const codec = textCodec("\n");

for (const count of [1, 100, 10_000, 123_456]) {
  test(`four readers of ${count} updates`, () => {
    const cache = new KvCache({ codec, clock: systemClock, legacyForm: (update) => update });
    const readers = [1, 7, 50, 1000].map((everyBatches) => ({
      everyBatches,
      position: 0,
      state: new Map<string, string>(),
    }));
    const expected = new Map<string, string>();
    let batches = 0;
    for (let sent = 0; sent < count; batches += 1) {
      const updates: KvUpdate[] = [];
      for (let index = 0; index < 100 && sent < count; index += 1, sent += 1) {
        const path = `/k${(sent * 7919) % 1000}`;
        const value = sent % 11 === 0 ? undefined : `${sent}`;
        if (value === undefined) expected.delete(path);
        else expected.set(path, value);
        const type = value === undefined ? updateType.deleted : updateType.new;
        updates.push({ path, value, revision: "", v3ResourceVersion: "", type });
      }
      cache.apply({ updates });
      for (const reader of readers) if (batches % reader.everyBatches === 0) follow(reader);
      if (batches % 20 !== 0) continue;
      const byAll = Math.min(...readers.map(({ position }) => position));
      cache.tidy({ byAll, published: cache.head }, () => true);
    }
    for (const reader of readers) {
      follow(reader);
      equal(reader.position, cache.head);
      deepEqual([...reader.state].sort(), [...expected].sort());
    }

    function follow(reader: (typeof readers)[number]): void {
      do {
        const step = cache.changesSince(reader.position, "modern/none");
        ok(step !== "forgotten");
        for (const line of decoder.decode(step.bytes).split("\n").slice(0, -1)) {
          const [path = "", value = ""] = line.split("=");
          if (value === "") reader.state.delete(path);
          else reader.state.set(path, value);
        }
        reader.position = step.to;
      } while (reader.position < cache.head);
    }
  });
}
