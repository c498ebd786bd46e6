// The committed snappy vectors are what the Go program beside them writes today.
import { equal } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { goPeer } from "../kit/go.ts";

const maker = await goPeer("test/vectors/snappy/make");

test("the snappy vectors are what golang/snappy writes and reads", { skip: maker.missing ?? false }, () => {
  if (maker.path === undefined) return;
  const made = execFileSync(maker.path, { encoding: "utf8", maxBuffer: 1 << 24 });
  equal(made, readFileSync("test/vectors/snappy/vectors.json", "utf8"));
});
