// What every datastore promises to those who write.
import { deepEqual, equal, notEqual, rejects } from "node:assert/strict";
import { edit, type StoredObject } from "../../src/calico/datastore/index.ts";
import {
  type Case,
  eventText,
  idOf,
  metaOf,
  revisionAfter,
  revisionOf,
  signal,
  specOf,
  take,
  tier,
} from "./datastore-contract-kit.ts";

// Run in this order on one datastore; each case uses names of its own.
export const writingCases: Case[] = [
  {
    name: "create refuses what exists",
    needs: "writes",
    async run({ datastore }) {
      await datastore.create("Tier", tier("c1"));
      await rejects(datastore.create("Tier", tier("c1")), { code: "exists" });
    },
  },
  {
    name: "update wants the revision that is stored, and answers the next",
    needs: "writes",
    async run({ datastore }) {
      const first = await datastore.create("Tier", tier("u1", 1));
      const second = await datastore.update("Tier", { ...first, value: tier("u1", 2) });
      notEqual(second.revision, first.revision);
      await rejects(datastore.update("Tier", { ...first, value: tier("u1", 3) }), { code: "conflict" });
      const got = await datastore.get("Tier", first.id);
      deepEqual([got?.revision, specOf(got)], [second.revision, { order: 2 }]);
      deepEqual(metaOf(got, "uid"), metaOf(first, "uid"));
    },
  },
  {
    name: "update and delete refuse what is not there",
    needs: "writes",
    async run({ datastore }) {
      const object = await datastore.create("Tier", tier("d1"));
      await datastore.delete("Tier", object.id);
      await rejects(datastore.update("Tier", object), (error: { code?: string }) =>
        ["not-found", "conflict"].includes(error.code ?? ""),
      );
      await rejects(datastore.delete("Tier", object.id), { code: "not-found" });
    },
  },
  {
    name: "delete wants the revision that is stored, when it is given one",
    needs: "writes",
    async run({ datastore }) {
      const first = await datastore.create("Tier", tier("d2", 1));
      const second = await datastore.update("Tier", { ...first, value: tier("d2", 2) });
      await rejects(datastore.delete("Tier", first.id, { revision: first.revision }), { code: "conflict" });
      await datastore.delete("Tier", first.id, { revision: second.revision });
      equal(await datastore.get("Tier", first.id), undefined);
    },
  },
  {
    name: "of many writers with one revision exactly one wins",
    needs: "writes",
    async run({ datastore }) {
      const first = await datastore.create("Tier", tier("race"));
      const tries = Array.from({ length: 8 }, (_, i) =>
        datastore.update("Tier", { ...first, value: tier("race", i + 10) }),
      );
      const outcomes = await Promise.allSettled(tries);
      equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
    },
  },
  {
    name: "what has no name is refused",
    needs: "writes",
    async run({ datastore }) {
      await rejects(datastore.create("Tier", { metadata: {} }), { code: "invalid" });
      await rejects(datastore.create("Tier", { metadata: { name: "a/b" } }), { code: "invalid" });
    },
  },
  {
    name: "delete wants the uid that is stored, when it is given one",
    needs: "writes",
    async run({ datastore }) {
      const first = await datastore.create("Tier", tier("d3"));
      const uid = String(metaOf(first, "uid"));
      await datastore.delete("Tier", first.id, { uid });
      const second = await datastore.create("Tier", tier("d3"));
      notEqual(metaOf(second, "uid"), uid);
      await rejects(datastore.delete("Tier", first.id, { uid }), { code: "conflict" });
      await rejects(datastore.delete("Tier", first.id, { uid, revision: second.revision }), { code: "conflict" });
      await rejects(
        datastore.delete("Tier", first.id, { uid: String(metaOf(second, "uid")), revision: first.revision }),
        {
          code: "conflict",
        },
      );
      await datastore.delete("Tier", first.id, { uid: String(metaOf(second, "uid")), revision: second.revision });
      await rejects(datastore.delete("Tier", first.id, { uid }), { code: "not-found" });
    },
  },
  {
    name: "delete takes a grace period, which means nothing to kinds that have none",
    needs: "writes",
    async run({ datastore }) {
      const { id } = await datastore.create("Tier", tier("d4"));
      await datastore.delete("Tier", id, { gracePeriodSeconds: 30 });
      equal(await datastore.get("Tier", id), undefined);
    },
  },
  {
    name: "a kind that is not there is another error than an object that is not there",
    except: {
      memory: "it holds every kind",
      directory: "it holds every kind",
      "directory by hand": "it holds every kind",
    },
    async run({ datastore }, { missingKind: kind, isWritable }) {
      if (kind === undefined) throw new Error("it holds every kind");
      const id = idOf("a");
      const object = { id, revision: await revisionOf(datastore, "Tier"), value: { metadata: { name: "a" } } };
      const calls: { [call: string]: () => Promise<unknown> } = {
        get: () => datastore.get(kind, id),
        list: () => Array.fromAsync(datastore.list(kind, { signal })),
        watch: () => take(datastore, kind, object.revision, 1),
      };
      const writes: typeof calls = {
        create: () => datastore.create(kind, object.value),
        update: () => datastore.update(kind, object),
        updateStatus: () => datastore.updateStatus(kind, object),
        patch: () => datastore.patch(kind, id, { metadata: {} }),
        delete: () => datastore.delete(kind, id),
      };
      if (isWritable) Object.assign(calls, writes);
      const outcomes: { [call: string]: unknown } = {};
      for (const [name, call] of Object.entries(calls)) {
        outcomes[name] = await call().catch(({ code, next }) => `${code}${next === undefined ? "" : ", with advice"}`);
      }
      const expected = Object.keys(calls).map((name) => [name, "no-such-kind, with advice"]);
      deepEqual(outcomes, Object.fromEntries(expected));
    },
  },
  {
    name: "a patch of metadata adds, changes and removes labels and annotations, and leaves all else",
    needs: "writes",
    async run({ datastore }) {
      const metadata = { name: "p1", labels: { a: "1", b: "2" } };
      const first = await datastore.create("Tier", { metadata, spec: { order: 7 } });
      const patch = { metadata: { labels: { b: "3", a: null, c: "4" }, annotations: { note: "here" } } };
      const second = await datastore.patch("Tier", first.id, patch);
      notEqual(second.revision, first.revision);
      const got = await datastore.get("Tier", first.id);
      deepEqual(
        [got?.revision, specOf(got), metaOf(got, "uid")],
        [second.revision, { order: 7 }, metaOf(first, "uid")],
      );
      deepEqual([metaOf(got, "labels"), metaOf(got, "annotations")], [{ b: "3", c: "4" }, { note: "here" }]);
    },
  },
  {
    name: "a patch wants the revision that is stored, when it is given one, and an object",
    needs: "writes",
    async run({ datastore }) {
      const first = await datastore.create("Tier", tier("p2"));
      const patch = (value: string) => ({ metadata: { labels: { value } } });
      const second = await datastore.patch("Tier", first.id, patch("a"), { revision: first.revision });
      await rejects(datastore.patch("Tier", first.id, patch("b"), { revision: first.revision }), { code: "conflict" });
      deepEqual(metaOf(await datastore.get("Tier", first.id), "labels"), { value: "a" });
      await datastore.patch("Tier", first.id, patch("c"), { revision: second.revision });
      await rejects(datastore.patch("Tier", idOf("p-none"), patch("d")), { code: "not-found" });
    },
  },
  {
    name: "a status is written by itself, at a revision, and leaves all else",
    needs: "writes",
    async run({ datastore }) {
      for (const kind of ["CalicoNodeStatus", "Tier"] as const) {
        const made = await datastore.create(kind, { metadata: { name: "s1" }, spec: { node: "n1" } });
        const status = { lastUpdated: "now" };
        const value = { metadata: { name: "s1", labels: { not: "taken" } }, spec: { node: "not taken" }, status };
        const second = await datastore.updateStatus(kind, { ...made, value });
        const got = await datastore.get(kind, made.id);
        deepEqual([got?.revision, specOf(got), statusOf(got)], [second.revision, { node: "n1" }, status]);
        equal(metaOf(got, "labels"), undefined);
        await rejects(datastore.updateStatus(kind, { ...made, value }), { code: "conflict" });
        const third = await datastore.patch(kind, made.id, {
          status: { lastUpdated: null, agent: { state: "Ready" } },
        });
        deepEqual(statusOf(third), { agent: { state: "Ready" } });
        deepEqual(specOf(third), { node: "n1" });
        await rejects(
          datastore.updateStatus(kind, { ...made, id: idOf("s-none"), value: namedAs("s-none") }),
          (error: { code?: string }) => ["not-found", "conflict"].includes(error.code ?? ""),
        );
      }
    },
  },
  {
    name: "a watch hears of every write, in order, at the revision that the write was answered with",
    needs: "writes",
    async run({ datastore }) {
      const from = await revisionOf(datastore, "CalicoNodeStatus");
      const written: StoredObject[] = [];
      const then = (object: StoredObject) => {
        written.push(object);
        return object;
      };
      const value = { metadata: { name: "o1" }, spec: { node: "n1" } };
      const first = then(await datastore.create("CalicoNodeStatus", value));
      const second = then(await datastore.update("CalicoNodeStatus", { ...first, value: { ...value, spec: {} } }));
      const third = then(
        await datastore.updateStatus("CalicoNodeStatus", { ...second, value: { ...value, status: { a: 1 } } }),
      );
      then(await datastore.patch("CalicoNodeStatus", third.id, { metadata: { labels: { a: "b" } } }));
      then(await datastore.patch("CalicoNodeStatus", third.id, { status: { a: 2 } }));
      await datastore.delete("CalicoNodeStatus", third.id);
      const events = await take(datastore, "CalicoNodeStatus", from, 6);
      deepEqual(events.map(eventText), [...Array<string>(5).fill("set /o1"), "delete /o1"]);
      deepEqual(
        events.slice(0, 5).map(revisionAfter),
        written.map(({ revision }) => revision),
      );
    },
  },
  {
    name: "an edit creates, changes, leaves alone and deletes",
    needs: "writes",
    async run({ datastore }) {
      const id = idOf("e1");
      const did: string[] = [];
      const orders = [1, 2, 2, 0];
      for (const order of orders) {
        const edited = await edit(datastore, "Tier", id, (current) => {
          if (order === 0) return "delete";
          return Object(specOf(current)).order === order ? "nothing" : { value: tier("e1", order) };
        });
        did.push(edited.did);
        deepEqual(edited.object?.revision, (await datastore.get("Tier", id))?.revision);
      }
      deepEqual(did, ["create", "update", "nothing", "delete"]);
    },
  },
  {
    name: "of two writers' edits none is lost",
    needs: "writes",
    async run({ datastore, another }) {
      await using second = await another();
      const id = idOf("e2");
      const add = async (writer: typeof datastore) => {
        for (let i = 0; i < 25; i++) {
          await edit(writer, "Tier", id, (current) => ({
            value: tier("e2", Number(Object(specOf(current)).order ?? 0) + 1),
          }));
        }
      };
      await Promise.all([add(datastore), add(datastore), add(second), add(second)]);
      deepEqual(specOf(await datastore.get("Tier", id)), { order: 100 });
    },
  },
];

function statusOf(object: StoredObject | undefined): unknown {
  return Object(object?.value).status;
}

function namedAs(name: string): object {
  return { metadata: { name }, status: {} };
}
