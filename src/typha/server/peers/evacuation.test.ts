// On a fake clock: when a server that lost its datastore sends its clients away, and when it must not.
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { silentLog } from "../../../base/lib/index.ts";
import { Evacuation } from "./evacuation.ts";

type World = { silentMs: number; peersAnswer: boolean; nodes: string[] };

function evacuationOf(world: World) {
  const clock = new FakeClock();
  const evacuation = new Evacuation({
    limitMs: 60_000,
    silentForMs: () => world.silentMs,
    peers: () => [{ host: "192.0.2.1", port: 5473 }],
    isServing: async () => world.peersAnswer,
    handOverNode: async (already) => {
      const index = world.nodes.findIndex((node) => !already.has(node));
      return index < 0 ? undefined : world.nodes.splice(index, 1)[0];
    },
    clock,
    log: silentLog,
  });
  return {
    get state() {
      return evacuation.state;
    },
    step: () => evacuation.step(),
    /** Looks every two seconds, while the silence goes on. */
    async lookFor(seconds: number): Promise<void> {
      for (let passed = 0; passed < seconds; passed += 2) {
        await evacuation.step();
        await clock.advance(2000);
        world.silentMs += 2000;
      }
      await evacuation.step();
    },
  };
}

test("a server that hears from its datastore keeps its clients", async () => {
  const world = { silentMs: 0, peersAnswer: true, nodes: ["a"] };
  const evacuation = evacuationOf(world);
  await evacuation.lookFor(60);
  deepEqual([evacuation.state, world.nodes], ["fresh", ["a"]]);
});

test("a stale server with a healthy peer hands every node over", async () => {
  const world = { silentMs: 0, peersAnswer: true, nodes: ["a", "b", "c"] };
  const evacuation = evacuationOf(world);
  await evacuation.lookFor(64);
  deepEqual([evacuation.state, world.nodes], ["handing clients over", []]);
});

test("a stale server without a healthy peer keeps serving what it has", async () => {
  const world = { silentMs: 0, peersAnswer: false, nodes: ["a"] };
  const evacuation = evacuationOf(world);
  await evacuation.lookFor(600);
  deepEqual([evacuation.state, world.nodes], ["stale, no healthy peer", ["a"]]);
});

test("a peer that was stale, too, has to prove itself: we may hear from the datastore in a moment", async () => {
  const world = { silentMs: 0, peersAnswer: false, nodes: ["a"] };
  const evacuation = evacuationOf(world);
  await evacuation.lookFor(64);
  world.peersAnswer = true;
  await evacuation.lookFor(28);
  deepEqual([evacuation.state, world.nodes], ["stale, no healthy peer", ["a"]]);
  await evacuation.lookFor(2);
  deepEqual([evacuation.state, world.nodes], ["handing clients over", []]);
});

test("a peer that comes and goes has proved nothing", async () => {
  const world = { silentMs: 0, peersAnswer: true, nodes: ["a"] };
  const evacuation = evacuationOf(world);
  for (let round = 0; round < 10; round += 1) {
    await evacuation.lookFor(20);
    world.peersAnswer = !world.peersAnswer;
  }
  deepEqual([evacuation.state, world.nodes], ["stale, no healthy peer", ["a"]]);
});

test("a node that comes back is served, and asked again only after the limit has passed once more", async () => {
  const world = { silentMs: 0, peersAnswer: true, nodes: ["a"] };
  const evacuation = evacuationOf(world);
  await evacuation.lookFor(64);
  world.nodes.push("a", "b");
  await evacuation.lookFor(56);
  deepEqual(world.nodes, ["a"]);
  await evacuation.lookFor(4);
  deepEqual(world.nodes, []);
});

test("once the datastore answers, the server is fresh and the outage forgotten", async () => {
  const world = { silentMs: 0, peersAnswer: true, nodes: ["a"] };
  const evacuation = evacuationOf(world);
  await evacuation.lookFor(64);
  world.silentMs = 0;
  await evacuation.step();
  equal(evacuation.state, "fresh");
  world.nodes.push("a");
  await evacuation.lookFor(64);
  deepEqual(world.nodes, []);
});
