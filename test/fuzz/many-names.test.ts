// Very many names that a hash table could be made to trip over: numbers in words, which engines have hashed to themselves,
// and multiples of a power of two, which then meet in one place. That it ends is the test: were a table searched from end to
// end for every name, one of these would take as long as all other tests together.
import { equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { decoder, encoder, map, string, struct } from "../../src/base/gob/index.ts";
import { parseJson } from "../../src/base/lib/index.ts";
import { createPodProcessor } from "../../src/calico/convert/index.ts";

const count = 100_000;
const floods: { name: string; of: (index: number) => string }[] = [
  { name: "numbers", of: (index) => `${index}` },
  { name: "multiples of 128", of: (index) => `${index * 128}` },
  { name: "numbers beyond an array's length", of: (index) => `${2 ** 32 + index * 65_536}` },
];

for (const { name, of } of floods) {
  describe(`${count} ${name}`, () => {
    const names = Array.from({ length: count }, (_, index) => of(index));

    test("as labels of a pod", () => {
      const labels = names.map((label) => `"${label}":"x"`).join(",");
      const metadata = `"name":"p","namespace":"n","resourceVersion":"1","labels":{${labels}}`;
      const spec = `"spec":{"nodeName":"node","containers":[]},"status":{"podIP":"10.0.0.1","phase":"Running"}`;
      const pod = parseJson(`{"kind":"Pod","apiVersion":"v1","metadata":{${metadata}},${spec}}`);
      const { kvs } = createPodProcessor().set({ namespace: "n", name: "p" }, "1", pod);
      equal(Object.keys(JSON.parse(kvs[0]?.value ?? "{}").labels ?? {}).length >= count, true);
    });

    test("as keys of a gob map", () => {
      const Labels = struct("Labels", { All: map(string(), string()) });
      const write = encoder(Labels);
      const read = decoder(Labels, { messageBytes: 1 << 24 });
      const bytes = write.message({ All: new Map(names.map((each) => [each, "x"])) });
      const [value] = [...read.push(write.preamble()), ...read.push(bytes)];
      equal(value?.All.size, count);
    });
  });
}
