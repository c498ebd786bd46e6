// Interfaces that go together: those that were asked for go, nothing else does, and each who asks has an answer.
import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { freshNamespace, noNamespaces } from "../../../../test/kit/namespace.ts";
import { openNetlink } from "../../../base/linux/kernel.ts";
import { LinkRemover } from "./remove-links.ts";

const skip = noNamespaces;

/** Pairs cali0, cali1, ... whose other ends are in a pod's namespace. */
async function stage(pairs: number) {
  const [node, pod] = [freshNamespace().path, freshNamespace().path];
  await using netlink = openNetlink({ namespace: node });
  const indexes: number[] = [];
  for (let i = 0; i < pairs; i += 1) {
    const name = `cali${i}`;
    await netlink.change({ do: "create", link: { kind: "veth", name, peer: { name: `peer${i}` } } });
    indexes.push((await netlink.link(name))?.index ?? 0);
  }
  return { node, pod, indexes };
}

async function namesIn(namespace: string): Promise<string[]> {
  await using netlink = openNetlink({ namespace });
  return (await netlink.links()).filter((link) => !link.isLoopback).map(({ name }) => name);
}

test("those that are asked for at once go, with their other ends, and the others stay", { skip }, async () => {
  const { node, indexes } = await stage(5);
  const remover = new LinkRemover();
  const [, ...going] = indexes;
  deepEqual(await Promise.all(going.map((index) => remover.remove(index, node))), [true, true, true, true]);
  deepEqual(
    await namesIn(node),
    ["peer0", "cali0"].sort((a, b) => (a < b ? 1 : -1)),
  );
});

test("one that is gone was not there, alone or among others", { skip }, async () => {
  const { node, indexes } = await stage(2);
  const remover = new LinkRemover();
  const gone = 9_999;
  deepEqual(await Promise.all([gone, ...indexes].map((index) => remover.remove(index, node))), [false, true, true]);
  deepEqual([await remover.remove(gone, node), await remover.remove(indexes[0] ?? 0, node)], [false, false]);
  deepEqual(await Promise.all([gone, gone + 1].map((index) => remover.remove(index, node))), [false, false]);
});

test("one that may not go does not keep the others, and is told", { skip }, async () => {
  const { node, indexes } = await stage(2);
  const remover = new LinkRemover();
  const loopback = 1;
  const [refused, ...others] = [loopback, ...indexes].map((index) => remover.remove(index, node));
  await Promise.all([rejects(refused ?? Promise.resolve(), /EOPNOTSUPP/), Promise.all(others)]);
  deepEqual(await namesIn(node), []);
});

test("nodes are told apart, and a namespace that is not there is told to all", { skip }, async () => {
  const [one, other] = [await stage(2), await stage(2)];
  const remover = new LinkRemover();
  await Promise.all([remover.remove(one.indexes[0] ?? 0, one.node), remover.remove(one.indexes[1] ?? 0, one.node)]);
  deepEqual([(await namesIn(one.node)).length, (await namesIn(other.node)).length], [0, 4]);
  const nowhere = "/run/netns/cattail-test-no-such";
  for (const each of [remover.remove(1, nowhere), remover.remove(2, nowhere)]) await rejects(each, /cannot be used/);
});
