// What every datastore promises to those who read.
import { deepEqual, equal, notEqual, ok, rejects } from "node:assert/strict";
import type { Revision } from "../../src/calico/datastore/index.ts";
import { eventually } from "../kit/eventually.ts";
import {
  type Case,
  eventText,
  idOf,
  idText,
  itemsOf,
  orderOf,
  revisionAfter,
  revisionOf,
  set,
  signal,
  specOf,
  take,
  tier,
} from "./datastore-contract-kit.ts";

const inOnePage = {
  "directory by hand": "a folder of so few files is one page",
  kubernetes: "pages of 500 are tried in test/system/kubernetes-pages.test.ts",
};

// Run in this order on one datastore that starts empty; each case uses names of its own.
export const readingCases: Case[] = [
  {
    name: "a list of nothing is one page with a revision to watch from",
    async run({ datastore }) {
      const pages = await Array.fromAsync(datastore.list("Tier", { signal }));
      deepEqual([pages.length, pages[0]?.items], [1, []]);
      notEqual(pages[0]?.revision, "");
    },
  },
  {
    name: "a list has every object of its kind once, by namespace and name",
    async run({ datastore, put }) {
      await put("Tier", tier("a"));
      await put("Tier", tier("b.c"));
      await put("NetworkSet", set("a"));
      deepEqual((await itemsOf(datastore, "Tier")).map(idText), ["/a", "/b.c"]);
      deepEqual((await itemsOf(datastore, "NetworkSet")).map(idText), ["default/a"]);
    },
  },
  {
    name: "a list of several pages has every object once",
    except: inOnePage,
    async run({ datastore, put }, { pageSize }) {
      const names = Array.from({ length: 3 * pageSize + 1 }, (_, i) => `n${String(i).padStart(4, "0")}`);
      for (const name of names) await put("GlobalNetworkSet", { metadata: { name } });
      const pages = await Array.fromAsync(datastore.list("GlobalNetworkSet", { signal }));
      deepEqual(
        pages.flatMap(({ items }) => items.map(({ id }) => id.name)),
        names,
      );
      equal(pages.length, 4);
      equal(new Set(pages.map(({ revision }) => revision)).size, 1);
    },
  },
  {
    name: "a list is of one moment: what is written while it is read is for the watch",
    except: inOnePage,
    async run({ datastore, put, remove }) {
      const listing = datastore.list("GlobalNetworkSet", { signal })[Symbol.asyncIterator]();
      const first = await listing.next();
      await put("GlobalNetworkSet", { metadata: { name: "zzz" } });
      await remove("GlobalNetworkSet", idOf("n0020"));
      const rest = await Array.fromAsync({ [Symbol.asyncIterator]: () => listing });
      const names = [...(first.value?.items ?? []), ...rest.flatMap(({ items }) => items)].map(({ id }) => id.name);
      deepEqual([names.includes("zzz"), names.includes("n0020")], [false, true]);
      const events = await take(datastore, "GlobalNetworkSet", first.value?.revision as Revision, 2);
      deepEqual(events.map(eventText), ["set /zzz", "delete /n0020"]);
    },
  },
  {
    name: "a watch from a list's revision has every later change, in order",
    async run({ datastore, put, remove }) {
      const from = await revisionOf(datastore, "Tier");
      await put("Tier", tier("w1", 1));
      await put("Tier", tier("w1", 2));
      await put("Tier", tier("w2", 1));
      await remove("Tier", idOf("w1"));
      const events = await take(datastore, "Tier", from, 4);
      deepEqual(events.map(eventText), ["set /w1", "set /w1", "set /w2", "delete /w1"]);
      deepEqual(events.map(orderOf), [1, 2, 1, undefined]);
    },
  },
  {
    name: "a watch that is open hears of what is written then",
    async run({ datastore, put }) {
      const events = take(datastore, "NetworkSet", await revisionOf(datastore, "NetworkSet"), 1);
      await put("NetworkSet", set("later"));
      deepEqual((await events).map(eventText), ["set default/later"]);
    },
  },
  {
    name: "a watch goes on from any event's revision, a deletion's too, and repeats nothing",
    async run({ datastore, put, remove }) {
      const from = await revisionOf(datastore, "Tier");
      await put("Tier", tier("r1"));
      await remove("Tier", idOf("r1"));
      await put("Tier", tier("r2"));
      await put("Tier", tier("r3"));
      const all = await take(datastore, "Tier", from, 4);
      for (const [index, event] of all.slice(0, 3).entries()) {
        const rest = await take(datastore, "Tier", revisionAfter(event), 3 - index);
        deepEqual(rest.map(eventText), all.slice(index + 1).map(eventText));
      }
    },
  },
  {
    name: "a watch of one kind says nothing of another",
    async run({ datastore, put }) {
      const from = await revisionOf(datastore, "Tier");
      await put("NetworkSet", set("other"));
      await put("Tier", tier("mine"));
      deepEqual((await take(datastore, "Tier", from, 1)).map(eventText), ["set /mine"]);
    },
  },
  {
    name: "the same object has the same revision in a list, a watch and a get",
    async run({ datastore, put }) {
      const from = await revisionOf(datastore, "Tier");
      await put("Tier", tier("same"));
      const [event] = await take(datastore, "Tier", from, 1);
      const got = await datastore.get("Tier", idOf("same"));
      const listed = (await itemsOf(datastore, "Tier")).find(({ id }) => id.name === "same");
      equal(event?.is === "set" ? event.object.revision : "", got?.revision);
      equal(listed?.revision, got?.revision);
      deepEqual(listed?.value, got?.value);
    },
  },
  {
    name: "aborting a watch ends it",
    async run({ datastore }) {
      const controller = new AbortController();
      const from = await revisionOf(datastore, "Tier");
      const watch = datastore.watch("Tier", { from, signal: controller.signal })[Symbol.asyncIterator]();
      const next = watch.next();
      setImmediate(() => controller.abort(new Error("enough")));
      await next.then(
        ({ done }) => equal(done, true),
        () => undefined,
      );
    },
  },
  {
    name: "what is not there is not there",
    async run({ datastore }, { missingKind }) {
      equal(await datastore.get("Tier", idOf("never")), undefined);
      if (missingKind === undefined) return;
      await rejects(Array.fromAsync(datastore.list(missingKind, { signal })), { code: "no-such-kind" });
    },
  },
  {
    name: "numbers beyond 2^53 are exact",
    async run({ datastore, put }) {
      await put("Tier", { metadata: { name: "big" }, spec: { order: 1794729939941964722n } });
      deepEqual(specOf(await datastore.get("Tier", idOf("big"))), { order: 1794729939941964722n });
    },
  },
  {
    name: "a field called __proto__ is a field",
    async run({ datastore, put }) {
      await put("Tier", { metadata: { name: "proto" }, spec: JSON.parse('{"__proto__": {"polluted": true}}') });
      const spec = specOf(await datastore.get("Tier", idOf("proto")));
      deepEqual(Object.keys(Object(spec)), ["__proto__"]);
      equal(Object(spec).polluted, undefined);
    },
  },
  {
    name: "a revision that was never reached is refused, not waited for",
    except: { kubernetes: "the API server waits; a follower's limit on silence ends that" },
    async run({ datastore }) {
      await rejects(take(datastore, "Tier", "99999999999999999" as Revision, 1), { code: "too-large-revision" });
    },
  },
  {
    name: "a watch from forgotten history is expired",
    needs: "history",
    async run({ datastore, put, forgetHistory }) {
      const from = await revisionOf(datastore, "Tier");
      await put("Tier", tier("h1"));
      await put("Tier", tier("h2"));
      await forgetHistory?.();
      const codeOfTry = () =>
        take(datastore, "Tier", from, 1).then(
          () => "nothing was missed",
          (error: { code?: string }) => error.code ?? String(error),
        );
      // An API server that is still filling its memory says to come back later.
      let code = await codeOfTry();
      await eventually(async () => {
        if (code === "rate-limited" || code === "unavailable") code = await codeOfTry();
        return code !== "rate-limited" && code !== "unavailable";
      }, "an answer");
      equal(code, "expired");
      ok((await itemsOf(datastore, "Tier")).some(({ id }) => id.name === "h2"));
    },
  },
];
