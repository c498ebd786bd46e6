// What every datastore promises of lists and watches that ask for a part of a kind only.
import { deepEqual, match, rejects } from "node:assert/strict";
import type { Within } from "../../src/calico/datastore/index.ts";
import {
  type Case,
  eventText,
  idOf,
  idText,
  itemsOf,
  revisionOf,
  signal,
  take,
  tier,
} from "./datastore-contract-kit.ts";
import type { TestObject } from "./datastore-contract-subjects.ts";

const labelled = (name: string, namespace: string, labels: { [name: string]: string } = {}): TestObject => ({
  metadata: { name, namespace, labels },
});

const objects = [
  labelled("red-1", "default", { colour: "red", size: "5" }),
  labelled("red-2", "kube-system", { colour: "red", size: "50" }),
  labelled("blue-1", "default", { colour: "blue", "example.com/old": "" }),
  labelled("plain", "kube-system"),
];

const all = ["default/blue-1", "default/red-1", "kube-system/plain", "kube-system/red-2"];
const selections: { within: Within; has: string[] }[] = [
  { within: {}, has: all },
  { within: { namespace: "default" }, has: ["default/blue-1", "default/red-1"] },
  { within: { namespace: "def" }, has: [] },
  { within: { namePrefix: "red-" }, has: ["default/red-1", "kube-system/red-2"] },
  { within: { namespace: "default", namePrefix: "red-" }, has: ["default/red-1"] },
  { within: { name: "red-1" }, has: ["default/red-1"] },
  { within: { name: "red" }, has: [] },
  { within: { name: "red-2", namespace: "default" }, has: [] },
  { within: { name: "red-2", labels: "colour=red" }, has: ["kube-system/red-2"] },
  { within: { labels: "" }, has: all },
  { within: { labels: "colour=red" }, has: ["default/red-1", "kube-system/red-2"] },
  { within: { labels: "colour==red,size!=5" }, has: ["kube-system/red-2"] },
  { within: { labels: "colour!=red" }, has: ["default/blue-1", "kube-system/plain"] },
  { within: { labels: "colour in (red, blue)" }, has: ["default/blue-1", "default/red-1", "kube-system/red-2"] },
  { within: { labels: "colour notin (red)" }, has: ["default/blue-1", "kube-system/plain"] },
  { within: { labels: "colour" }, has: ["default/blue-1", "default/red-1", "kube-system/red-2"] },
  { within: { labels: "!colour" }, has: ["kube-system/plain"] },
  { within: { labels: "example.com/old=" }, has: ["default/blue-1"] },
  { within: { labels: "size>9" }, has: ["kube-system/red-2"] },
  { within: { labels: "size<9" }, has: ["default/red-1"] },
  { within: { namespace: "kube-system", labels: "colour=red", namePrefix: "red" }, has: ["kube-system/red-2"] },
];

export const narrowingCases: Case[] = [
  {
    name: "a list can be narrowed by namespace, name prefix and labels",
    async run({ datastore, put, remove }) {
      for (const { id } of await itemsOf(datastore, "NetworkSet")) await remove("NetworkSet", id);
      for (const object of objects) await put("NetworkSet", object);
      for (const { within, has } of selections) {
        const found = (await itemsOf(datastore, "NetworkSet", within)).map(idText).sort();
        deepEqual({ within, found }, { within, found: has });
      }
    },
  },
  {
    name: "a list of nothing within a selection is a page with a revision all the same",
    async run({ datastore }) {
      const pages = await Array.fromAsync(datastore.list("NetworkSet", { signal, within: { namespace: "none" } }));
      deepEqual(
        pages.map(({ items }) => items),
        [[]],
      );
      match(pages[0]?.revision ?? "", /./);
    },
  },
  {
    name: "kinds without namespaces have none in a namespace",
    async run({ datastore, put }) {
      await put("Tier", tier("within"));
      deepEqual(await itemsOf(datastore, "Tier", { namespace: "default" }), []);
      deepEqual((await itemsOf(datastore, "Tier", { namePrefix: "withi" })).map(idText), ["/within"]);
    },
  },
  {
    name: "what is no label selector is refused",
    async run({ datastore }) {
      const within = { labels: "colour = = red" };
      await rejects(Array.fromAsync(datastore.list("NetworkSet", { signal, within })), { code: "invalid" });
    },
  },
  {
    name: "a watch within a namespace and a prefix hears of nothing else",
    async run({ datastore, put, remove }) {
      const from = await revisionOf(datastore, "NetworkSet");
      await put("NetworkSet", labelled("watched", "kube-system"));
      await put("NetworkSet", labelled("other", "default"));
      await put("NetworkSet", labelled("watched", "default"));
      await remove("NetworkSet", idOf("other", "default"));
      await remove("NetworkSet", idOf("watched", "default"));
      const within = { namespace: "default", namePrefix: "watch" };
      const events = await take(datastore, "NetworkSet", from, 2, within);
      deepEqual(events.map(eventText), ["set default/watched", "delete default/watched"]);
    },
  },
  {
    name: "a watch with labels says an object that leaves the selection as deleted, and one that enters as set",
    async run({ datastore, put, remove }) {
      const from = await revisionOf(datastore, "NetworkSet");
      const make = (name: string, colour: string) => put("NetworkSet", labelled(name, "default", { colour }));
      await make("moves", "green"); // not within
      await make("moves", "red"); // enters
      await make("moves", "blue"); // leaves
      await make("never", "green");
      await remove("NetworkSet", idOf("never", "default"));
      await make("moves", "red"); // enters again
      await remove("NetworkSet", idOf("moves", "default"));
      const events = await take(datastore, "NetworkSet", from, 4, { labels: "colour=red" });
      deepEqual(events.map(eventText), [
        "set default/moves",
        "delete default/moves",
        "set default/moves",
        "delete default/moves",
      ]);
    },
  },
];
