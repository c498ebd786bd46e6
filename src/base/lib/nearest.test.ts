import { equal } from "node:assert/strict";
import { test } from "node:test";
import { editDistance, nearest } from "./nearest.ts";

const distances: { a: string; b: string; distance: number }[] = [
  { a: "", b: "abc", distance: 3 },
  { a: "kitten", b: "sitting", distance: 3 },
  { a: "same", b: "same", distance: 0 },
];
for (const { a, b, distance } of distances)
  test(`${a} to ${b} is ${distance}`, () => equal(editDistance(a, b), distance));
test("a very long name costs little and matches nothing", () =>
  equal(nearest("X".repeat(1e6), ["TYPHA_A"]), undefined));
test("the nearest name may be longer or shorter", () => {
  equal(nearest("colour", ["flavour", "color", "colours and shapes"]), "color");
  equal(nearest("log", ["logs", "blog", "catalogue"]), "logs");
});
