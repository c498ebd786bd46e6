import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { type OwnNode, readAnswer, writeAnswer } from "./neighbour-protocol.ts";
import { Neighbours } from "./neighbours.ts";

const peer = { host: "10.0.0.2", port: 5473 };

function asked(answers: (() => readonly OwnNode[])[], peers = [peer]) {
  const clock = new FakeClock();
  let questions = 0;
  const neighbours = new Neighbours({
    peers: () => peers,
    ask: async () => (answers[questions++] ?? (() => []))(),
    clock,
  });
  return { clock, neighbours, questions: () => questions };
}

test("a neighbour is asked once an interval, however often somebody looks", async () => {
  const { clock, neighbours, questions } = asked([() => [["node-1", "up to date"]], () => [["node-1", "behind"]]]);
  const first = await neighbours.look();
  deepEqual(first.nodes.get("node-1"), { server: "10.0.0.2:5473", state: "up to date" });
  await neighbours.look();
  equal(questions(), 1);
  await clock.advance(5001);
  await neighbours.look(); // asks, and shows what it has
  await clock.advance(1);
  equal((await neighbours.look()).nodes.get("node-1")?.state, "behind");
  equal(questions(), 2);
});

test("one that does not answer is named with the reason, and left alone for a minute", async () => {
  const fails = () => {
    throw new Error("nobody listens there");
  };
  const { clock, neighbours, questions } = asked([fails, () => [["node-1", "up to date"]]]);
  deepEqual((await neighbours.look()).unheard, [{ server: "10.0.0.2:5473", why: "nobody listens there" }]);
  await clock.advance(59_000);
  await neighbours.look();
  equal(questions(), 1);
  await clock.advance(2000);
  await neighbours.look();
  await clock.advance(1);
  deepEqual((await neighbours.look()).unheard, []);
});

test("what was heard counts for a while, and is forgotten with its server", async () => {
  const peers = [peer];
  const fails = () => {
    throw new Error("gone");
  };
  const { clock, neighbours } = asked([() => [["node-1", "up to date"]], fails], peers);
  await neighbours.look();
  await clock.advance(6000);
  await neighbours.look();
  await clock.advance(1);
  equal((await neighbours.look()).nodes.size, 1, "one answer that is missing is no reason to forget");
  await clock.advance(15_000);
  deepEqual((await neighbours.look()).unheard, [{ server: "10.0.0.2:5473", why: "gone" }]);
  peers.length = 0;
  deepEqual(await neighbours.look(), { servers: 0, unheard: [], nodes: new Map() });
});

const nodes = fc.array(
  fc.tuple(fc.string({ maxLength: 256 }), fc.constantFrom<OwnNode[1]>("up to date", "behind", "starting")),
);
test("an answer is read as it was written", () => {
  fc.assert(fc.property(nodes, (given) => deepEqual(readAnswer(writeAnswer(given)), given)));
});

test("anything else is refused in words, and nothing worse", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      throws(() => readAnswer(text), Error);
    }),
  );
  const wrong = ['{"cattail":1,"nodes":[["a","not connected"]]}', '{"cattail":1,"nodes":[[1,"behind"]]}'];
  for (const text of wrong) throws(() => readAnswer(text), /an entry that is no node/);
});
