import { equal } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { canonicalTime, parseDuration, printDuration } from "./go-time.ts";

const times: [string, string | undefined][] = [
  ["2024-03-04T04:06:07Z", "2024-03-04T04:06:07Z"],
  ["2024-03-04T05:06:07+01:00", "2024-03-04T04:06:07Z"],
  ["2024-03-04T04:06:07.987Z", "2024-03-04T04:06:07Z"],
  ["2024-01-01T00:30:00+01:00", "2023-12-31T23:30:00Z"],
  ["0001-01-01T00:00:00Z", ""],
  ["0001-01-01T01:00:00+01:00", ""],
  ["9999-12-31T23:59:59-01:00", "10000-01-01T00:59:59Z"],
  ["0000-01-01T00:00:00+01:00", "-0001-12-31T23:00:00Z"],
  ["2024-03-04T04:06:07,5Z", "2024-03-04T04:06:07Z"],
  ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"],
  ["2023-02-29T00:00:00Z", undefined],
  ["2024-13-01T00:00:00Z", undefined],
  ["2024-01-01T24:00:00Z", undefined],
  ["2024-01-01 00:00:00Z", undefined],
  ["2024-01-01T00:00:00", undefined],
  ["", undefined],
];
for (const [text, expected] of times) {
  test(`time ${JSON.stringify(text)} is ${expected ?? "none"}`, () => equal(canonicalTime(text), expected));
}

const durations: [string, string | undefined][] = [
  ["90s", "1m30s"],
  ["1.5s", "1.5s"],
  ["0", "0s"],
  ["0s", "0s"],
  ["1h", "1h0m0s"],
  ["720h", "720h0m0s"],
  ["1h1.5m", "1h1m30s"],
  ["-90s", "-1m30s"],
  ["+5m", "5m0s"],
  ["1500us", "1.5ms"],
  ["15ns", "15ns"],
  [".5s", "500ms"],
  ["1.s", "1s"],
  ["1500µs", "1.5ms"],
  ["10", undefined],
  ["s", undefined],
  [".s", undefined],
  ["1d", undefined],
  ["", undefined],
  ["-", undefined],
  ["1s ", undefined],
  ["9999999999h", undefined],
];
for (const [text, expected] of durations) {
  test(`duration ${JSON.stringify(text)} is ${expected ?? "none"}`, () => {
    const parsed = parseDuration(text);
    equal(parsed === undefined ? undefined : printDuration(parsed), expected);
  });
}

test("a printed duration reads back", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }), (value) =>
      equal(parseDuration(printDuration(value)), value),
    ),
  );
});
