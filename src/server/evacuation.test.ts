import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { silentLog, systemClock } from "../lib/index.ts";
import { Evacuation } from "./evacuation.ts";

type World = { silentMs: number; peersAnswer: boolean; nodes: string[] };

function evacuationOf(world: World) {
  return new Evacuation({
    limitMs: 60_000,
    silentForMs: () => world.silentMs,
    peers: () => [{ host: "192.0.2.1", port: 5473 }],
    isServing: async () => world.peersAnswer,
    handOverNode: async (already) => {
      const index = world.nodes.findIndex((node) => !already.has(node));
      return index < 0 ? undefined : world.nodes.splice(index, 1)[0];
    },
    clock: systemClock,
    log: silentLog,
  });
}

test("a server that hears from its datastore keeps its clients", async () => {
  const world = { silentMs: 59_000, peersAnswer: true, nodes: ["a"] };
  const evacuation = evacuationOf(world);
  await evacuation.step();
  deepEqual([evacuation.state, world.nodes], ["fresh", ["a"]]);
});

test("a stale server with a healthy peer hands every node over", async () => {
  const world = { silentMs: 61_000, peersAnswer: true, nodes: ["a", "b", "c"] };
  const evacuation = evacuationOf(world);
  await evacuation.step();
  deepEqual([evacuation.state, world.nodes], ["handing clients over", []]);
});

test("a stale server without a healthy peer keeps serving what it has", async () => {
  const world = { silentMs: 61_000, peersAnswer: false, nodes: ["a"] };
  const evacuation = evacuationOf(world);
  await evacuation.step();
  deepEqual([evacuation.state, world.nodes], ["stale, no healthy peer", ["a"]]);
  world.peersAnswer = true;
  await evacuation.step();
  deepEqual(world.nodes, []);
});

test("a node that comes back in the same outage is not sent away again", async () => {
  const world = { silentMs: 61_000, peersAnswer: true, nodes: ["a"] };
  const evacuation = evacuationOf(world);
  await evacuation.step();
  world.nodes.push("a", "b");
  await evacuation.step();
  deepEqual(world.nodes, ["a"]);
});

test("once the datastore answers, the server is fresh and the outage forgotten", async () => {
  const world = { silentMs: 61_000, peersAnswer: true, nodes: ["a"] };
  const evacuation = evacuationOf(world);
  await evacuation.step();
  world.silentMs = 0;
  await evacuation.step();
  equal(evacuation.state, "fresh");
  world.silentMs = 61_000;
  world.nodes.push("a");
  await evacuation.step();
  deepEqual(world.nodes, []);
});
