// Which block is claimed next, taken over, or borrowed from.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { type AddressRange, parseRange, rangeText } from "../../../base/lib/index.ts";
import type { Block } from "../block.ts";
import { assign, newBlock, timeText } from "../block-changes.ts";
import { readReservations } from "../reservations.ts";
import { existingInOrder, findBlock } from "./find-block.ts";

const nowNs = 1_794_824_392_000_000_000n;
const minuteNs = 60_000_000_000n;

function range(text: string): AddressRange {
  const found = parseRange(text);
  if (found === undefined) throw new Error(`${text} is no range`);
  return found;
}

function block(cidr: string, { owner = "host:n2", taken = 0, ageNs = minuteNs } = {}): Block {
  const made = { ...newBlock({ range: range(cidr), owner, nowNs }), claimTime: timeText(nowNs - ageNs) };
  const holder = { attribute: { handle_id: "h" }, owner, strictAffinity: false };
  const done = assign(made, { ...holder, count: taken, reservations: [] });
  return done.is === "assigned" ? done.block : made;
}

// n1 begins the first pool with its second block: 10.9.0.4, then 10.9.0.0.
const first = { range: range("10.9.0.0/29"), blockSize: 30 };
const second = { range: range("10.10.0.0/30"), blockSize: 30 };
const full = (cidr: string) => block(cidr, { taken: 4 });

const cases: { name: string; blocks: Block[]; reserved?: string[]; finds: string[] }[] = [
  { name: "the first in the node's order", blocks: [], finds: ["claim", "10.9.0.4/30"] },
  { name: "the next, if that one is taken", blocks: [full("10.9.0.4/30")], finds: ["claim", "10.9.0.0/30"] },
  {
    name: "the next pool, if the first has none left",
    blocks: [full("10.9.0.4/30"), full("10.9.0.0/30")],
    finds: ["claim", "10.10.0.0/30"],
  },
  {
    name: "one of its own with a free address",
    blocks: [block("10.9.0.4/30", { owner: "host:n1", taken: 2 })],
    finds: ["claim", "10.9.0.4/30"],
  },
  {
    name: "not one of its own that is full",
    blocks: [block("10.9.0.4/30", { owner: "host:n1", taken: 4 })],
    finds: ["claim", "10.9.0.0/30"],
  },
  {
    name: "none that is wholly reserved",
    blocks: [],
    reserved: ["10.9.0.4/31", "10.9.0.6/31"],
    finds: ["claim", "10.9.0.0/30"],
  },
  {
    name: "others' empty blocks only when nothing else is left, in the node's order",
    blocks: [block("10.9.0.0/30"), block("10.9.0.4/30"), full("10.10.0.0/30")],
    finds: ["take-over", "10.9.0.4/30", "10.9.0.0/30"],
  },
  {
    name: "no empty block that was claimed less than a minute ago",
    blocks: [block("10.9.0.0/30"), block("10.9.0.4/30", { ageNs: minuteNs - 1_000_000_000n }), full("10.10.0.0/30")],
    finds: ["take-over", "10.9.0.0/30"],
  },
  {
    name: "an empty block without a claim time is an old one",
    blocks: [full("10.9.0.0/30"), { ...block("10.9.0.4/30"), claimTime: undefined }, full("10.10.0.0/30")],
    finds: ["take-over", "10.9.0.4/30"],
  },
  {
    name: "no empty block whose addresses are all reserved or in use",
    blocks: [full("10.9.0.0/30"), block("10.9.0.4/30"), full("10.10.0.0/30")],
    reserved: ["10.9.0.4/30"],
    finds: ["take-over"],
  },
];

for (const { name, blocks, reserved = [], finds } of cases) {
  test(`the next block is ${name}`, () => {
    const reservations = readReservations([{ reservedCIDRs: reserved }]);
    const order = { node: "n1", randomSeed: 1n };
    const found = findBlock({ pools: [first, second], blocks, reservations, order, owner: "host:n1", nowNs });
    const ranges = found.is === "claim" ? [found.range] : found.blocks.map((each) => each.range);
    deepEqual([found.is, ...ranges.map(rangeText)], finds);
  });
}

test("a reservation of a whole IPv6 pool ends the search", () => {
  const pool = { range: range("fd00::/48"), blockSize: 122 };
  const reservations = readReservations([{ reservedCIDRs: ["fd00::/16"] }]);
  const order = { node: "n1", randomSeed: 1n };
  const found = findBlock({ pools: [pool], blocks: [], reservations, order, owner: "host:n1", nowNs });
  deepEqual(found, { is: "take-over", blocks: [] });
});

test("blocks to borrow from come in the node's order, and only those that are the pool's", () => {
  const blocks = ["10.9.0.0/30", "10.9.0.4/30", "10.9.0.0/29", "10.10.0.0/30", "10.9.0.0/31", "fd00::/122"].map(
    (cidr) => block(cidr),
  );
  const order = { node: "n1", randomSeed: 1n };
  const found = existingInOrder(first, blocks, order);
  deepEqual(
    found.map((each) => rangeText(each.range)),
    ["10.9.0.4/30", "10.9.0.0/30"],
  );
});
