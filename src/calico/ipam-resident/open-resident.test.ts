// The library over a cache, on a datastore in memory: what it costs, and that it gives no address twice whoever else is at work.
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { eventually } from "../../../test/kit/eventually.ts";
import { addressText, messageOf, systemClock } from "../../base/lib/index.ts";
import { createMemoryDatastore, type Datastore, DatastoreError } from "../datastore/index.ts";
import { audit, readAffinity, readBlock, readHandle } from "../ipam/index.ts";
import { type Ipam, openIpam, openIpamAccess } from "../ipam-client/index.ts";
import { openResources } from "../resources/index.ts";
import { openResident, type ResidentIpam } from "./open-resident.ts";

/** Who waits before he tries again waits a turn; what ends a silent watch takes its time. */
const clock = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms < 5000 ? 0 : ms, signal),
};
const edge = { clock, random: Math.random };

type Counted = Datastore & { readonly calls: string[]; readonly faults: { chance: number } };

/** What is asked of the datastore, but for lists and watches of the cache itself, which are not any request's. */
function counted(datastore: Datastore, pause: () => Promise<void> = async () => undefined): Counted {
  const calls: string[] = [];
  const faults = { chance: 0 };
  const noted = (what: string, kind: string) => calls.push(`${what} ${kind}`);
  /** Half of the faults come before the write, and half lose its answer. */
  const write = async <T>(act: () => Promise<T>): Promise<T> => {
    await pause();
    const fault = Math.random() < faults.chance ? Math.random() : undefined;
    if (fault !== undefined && fault < 0.5) throw new DatastoreError("unavailable", "the request was lost");
    const answer = await act();
    await pause();
    if (fault !== undefined) throw new DatastoreError("unavailable", "the answer was lost");
    return answer;
  };
  return {
    ...datastore,
    flavour: datastore.flavour,
    holdsEveryKind: true,
    calls,
    faults,
    list: (kind, options) => {
      noted("list", kind);
      return datastore.list(kind, options);
    },
    watch: (kind, options) => datastore.watch(kind, options),
    get: async (kind, id, options) => {
      noted("get", kind);
      await pause();
      const answer = await datastore.get(kind, id, options);
      await pause();
      return answer;
    },
    create: async (kind, value, options) => {
      noted("create", kind);
      return await write(() => datastore.create(kind, value, options));
    },
    update: async (kind, object, options) => {
      noted("update", kind);
      return await write(() => datastore.update(kind, object, options));
    },
    updateStatus: (kind, object, options) => datastore.updateStatus(kind, object, options),
    patch: (kind, id, patch, options) => datastore.patch(kind, id, patch, options),
    delete: async (kind, id, options) => {
      noted("delete", kind);
      return await write(() => datastore.delete(kind, id, options));
    },
    [Symbol.asyncDispose]: () => datastore[Symbol.asyncDispose](),
  };
}

type Cluster = AsyncDisposable & {
  readonly datastore: Counted;
  resident(node: string): Promise<ResidentIpam>;
  direct(): Ipam;
};

async function cluster({ cidr = "10.65.0.0/24", blockSize = 28, isSlow = false } = {}): Promise<Cluster> {
  const datastore = counted(createMemoryDatastore({ flavour: "kubernetes" }), isSlow ? someTurns : undefined);
  const ending = new AbortController();
  const resources = openResources(datastore);
  await resources.create("IPPool", { metadata: { name: "p" }, spec: { cidr, blockSize } });
  for (const name of ["n1", "n2"]) {
    await datastore.create("Node", { apiVersion: "v1", kind: "Node", metadata: { name }, spec: {} });
  }
  return {
    datastore,
    async resident(node) {
      const resident = openResident({ ...edge, datastore, node, signal: ending.signal });
      await eventually(() => resident.isWarm, "it is warm");
      return resident;
    },
    direct: () => openIpam(openIpamAccess(datastore, edge), edge),
    async [Symbol.asyncDispose]() {
      ending.abort();
    },
  };
}

/** Answers overtake each other, as on a network. */
async function someTurns(): Promise<void> {
  for (let turns = Math.floor(Math.random() * 4); turns > 0; turns -= 1) await new Promise(setImmediate);
}

async function add(ipam: Ipam, handle: string, node = "n1"): Promise<string> {
  const attributes = { node, pod: handle, namespace: "default" };
  const { ipv4 } = await ipam.autoAssign({ node, use: "Workload", handle, attributes, ipv4: { count: 1 } });
  const [given] = ipv4.addresses;
  ok(given !== undefined);
  return addressText(given.address.family, given.address.first);
}

/** Everything that is stored, audited; all pods that hold an address are taken for running. */
async function soundness(datastore: Datastore): Promise<{ faults: string[]; held: ReadonlyMap<string, string> }> {
  const resources = openResources(datastore);
  const items = async (kind: "IPAMBlock" | "BlockAffinity" | "IPAMHandle") => (await resources.list(kind)).items;
  const versioned = <T>(value: T) => ({ value, revision: "" });
  const blocks = (await items("IPAMBlock")).map(({ spec }) => {
    const read = readBlock(spec);
    ok(read.is === "block");
    return versioned(read.block);
  });
  const held = new Map<string, string>();
  for (const { value } of blocks) {
    for (const [ordinal, index] of value.allocations.entries()) {
      if (index === null) continue;
      const address = addressText(4, value.range.first + BigInt(ordinal));
      held.set(address, value.attributes[index]?.handle_id ?? "");
    }
  }
  const { findings } = audit({
    blocks,
    unreadable: [],
    affinities: (await items("BlockAffinity")).map(({ spec }) => versioned(readAffinity(spec))),
    handles: (await items("IPAMHandle")).map(({ spec }) => versioned(readHandle(spec))),
    pools: await openIpamAccess(datastore, edge).pools({}),
    uses: [...held].map(([address, pod]) => ({
      address,
      user: { is: "workload", namespace: "default", name: pod, node: "", pod },
    })),
    starting: [],
    nodes: ["n1", "n2"],
    nowNs: BigInt(Date.now()) * 1_000_000n,
  });
  return { faults: findings.map(({ says }) => says), held };
}

test("in a block that the node has, an address costs two calls, and giving it back two", async () => {
  await using world = await cluster();
  const ipam = await world.resident("n1");
  const { calls } = world.datastore;
  await add(ipam, "first"); // claims the block
  await add(ipam, "second"); // lists the affinities that the first has changed
  calls.length = 0;
  await add(ipam, "a");
  deepEqual(calls.splice(0), ["create IPAMHandle", "update IPAMBlock"]);
  await ipam.releaseByHandle("a");
  deepEqual(calls.splice(0), ["update IPAMBlock", "delete IPAMHandle"]);
  deepEqual((await soundness(world.datastore)).faults, []);
});

test("after a start, giving back what was given before costs one read more, and so does the first address", async () => {
  await using world = await cluster();
  await add(world.direct(), "old");
  await add(world.direct(), "older");
  const ipam = await world.resident("n1");
  const { calls } = world.datastore;
  await ipam.getUtilization(); // pools and reservations are known from here on
  await ipam.getConfig();
  calls.length = 0;
  await ipam.releaseByHandle("old");
  deepEqual(
    calls.splice(0).filter((call) => !call.endsWith("Node")),
    ["get IPAMHandle", "get IPAMBlock", "update IPAMBlock", "delete IPAMHandle"],
  );
  await ipam.releaseByHandle("older");
  deepEqual(calls.splice(0), ["get IPAMHandle", "update IPAMBlock", "delete IPAMHandle"]);
});

test("sixteen at a time share writes of the block, and each has an address and a handle of its own", async () => {
  await using world = await cluster({ blockSize: 26 });
  const ipam = await world.resident("n1");
  await add(ipam, "first");
  const { calls } = world.datastore;
  calls.length = 0;
  const names = Array.from({ length: 16 }, (_, at) => `pod-${at}`);
  const addresses = await Promise.all(names.map((name) => add(ipam, name)));
  equal(new Set(addresses).size, 16);
  equal(calls.filter((call) => call === "create IPAMHandle").length, 16);
  ok(calls.filter((call) => call === "update IPAMBlock").length <= 4, calls.join(", "));
  calls.length = 0;
  await Promise.all(names.map((name) => ipam.releaseByHandle(name)));
  ok(calls.filter((call) => call === "update IPAMBlock").length <= 4, calls.join(", "));
  const { faults, held } = await soundness(world.datastore);
  deepEqual(faults, []);
  deepEqual([...held.values()], ["first"]);
});

test("more at a time than a block has room for: the rest get another block", async () => {
  await using world = await cluster();
  const ipam = await world.resident("n1");
  await add(ipam, "first");
  const names = Array.from({ length: 30 }, (_, at) => `pod-${at}`);
  const addresses = await Promise.all(names.map((name) => add(ipam, name)));
  equal(new Set(addresses).size, 30);
  deepEqual((await soundness(world.datastore)).faults, []);
});

test("what another program wrote into the block is met as a conflict, and both have their addresses", async () => {
  await using world = await cluster();
  const ipam = await world.resident("n1");
  const first = await add(ipam, "a");
  const second = await add(world.direct(), "b");
  const third = await add(ipam, "c");
  equal(new Set([first, second, third]).size, 3);
  await world.direct().releaseByHandle("a");
  await ipam.releaseByHandle("a");
  await ipam.releaseByHandle("b");
  const { faults, held } = await soundness(world.datastore);
  deepEqual(faults, []);
  deepEqual([...held.values()], ["c"]);
});

test("a block that is full in memory is read before another is claimed", async () => {
  await using world = await cluster({ cidr: "10.65.0.0/28", blockSize: 30 });
  const ipam = await world.resident("n1");
  for (const name of ["a", "b", "c", "d"]) await add(ipam, name);
  await world.direct().releaseByHandle("b");
  await add(ipam, "e");
  equal((await openResources(world.datastore).list("IPAMBlock")).items.length, 1);
});

test("a block that was taken away is not used any more", async () => {
  await using world = await cluster();
  const ipam = await world.resident("n1");
  await add(ipam, "a");
  await ipam.releaseByHandle("a");
  await world.direct().releaseHostAffinities("n1", { mustBeEmpty: true });
  await add(ipam, "b");
  deepEqual((await soundness(world.datastore)).faults, []);
});

test("pools, settings and reservations are those of now, a moment after they were written", async () => {
  await using world = await cluster();
  const ipam = await world.resident("n1");
  await add(ipam, "a");
  const resources = openResources(world.datastore);
  await resources.edit("IPPool", { namespace: "", name: "p" }, (pool) =>
    pool === undefined ? "nothing" : { ...pool, spec: { ...pool.spec, disabled: true } },
  );
  await eventually(
    () => refusal(add(ipam, `b${Math.random()}`)).then((says) => /cannot find a qualified ippool/.test(says)),
    "the pool is off",
  );
  await resources.create("IPPool", { metadata: { name: "q" }, spec: { cidr: "10.66.0.0/24", blockSize: 28 } });
  await eventually(() => refusal(add(ipam, `c${Math.random()}`)).then((says) => says === ""), "the new pool is used");
});

test("a pool that was enabled is used at once, also where its watch has said nothing yet", async () => {
  await using world = await cluster();
  const setDisabled = (disabled: boolean) =>
    openResources(world.datastore).edit("IPPool", { namespace: "", name: "p" }, (pool) =>
      pool === undefined ? "nothing" : { ...pool, spec: { ...pool.spec, disabled } },
    );
  await setDisabled(true);
  const heard: Datastore = {
    ...world.datastore,
    flavour: world.datastore.flavour,
    holdsEveryKind: true,
    async *watch(_, { signal }) {
      await new Promise((resolve) => signal?.addEventListener("abort", resolve, { once: true }));
    },
  };
  const stop = new AbortController();
  const ipam = openResident({ ...edge, datastore: heard, node: "n1", signal: stop.signal });
  await eventually(() => ipam.isWarm, "it watches");
  ok(/cannot find a qualified ippool/.test(await refusal(add(ipam, "a"))));
  await setDisabled(false);
  equal(await refusal(add(ipam, "a")), "");
  stop.abort();
  await ipam.running;
});

test("labels of a namespace are read only where a pool chooses by them", async () => {
  await using world = await cluster();
  const ipam = await world.resident("n1");
  const read = async () => ({ team: "a" });
  deepEqual(await ipam.namespaceLabels(read), {});
  const spec = { cidr: "10.66.0.0/24", blockSize: 28, namespaceSelector: "team == 'a'", allowedUses: ["Workload"] };
  await openResources(world.datastore).create("IPPool", { metadata: { name: "q" }, spec });
  await eventually(async () => Object.keys(await ipam.namespaceLabels(read)).includes("team"), "the pool is seen");
});

test("without watches every answer is the datastore's", async () => {
  await using world = await cluster();
  const ended = AbortSignal.abort();
  const ipam = openResident({ ...edge, datastore: world.datastore, node: "n1", signal: ended });
  equal(ipam.isWarm, false);
  equal(new Set([await add(ipam, "a"), await add(ipam, "b")]).size, 2);
  deepEqual((await soundness(world.datastore)).faults, []);
});

/** "": it was not refused. */
function refusal(asked: Promise<unknown>): Promise<string> {
  return asked.then(() => "", messageOf);
}

type Act = { readonly who: "resident" | "direct" | "other"; readonly do: "add" | "del"; readonly pod: number };
const act: fc.Arbitrary<Act> = fc.record({
  who: fc.constantFrom("resident", "resident", "direct", "other"),
  do: fc.constantFrom("add", "add", "del"),
  pod: fc.nat(11),
});

test("whoever works beside it, at the same time and on the same blocks: nothing is given twice, and nothing is lost", async () => {
  const rounds = fc.array(fc.array(act, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 });
  const run = async (turns: readonly (readonly Act[])[]) => {
    await using world = await cluster({ cidr: "10.65.0.0/27", blockSize: 30, isSlow: true });
    const ipams = { resident: await world.resident("n1"), direct: world.direct(), other: await world.resident("n2") };
    const holds = new Map<string, string>();
    for (const turn of turns) {
      // One container has one request at a time; a name belongs to one node.
      const acts = [...new Map(turn.map((each) => [`${each.who === "other"}-${each.pod}`, each]))];
      await Promise.all(
        acts.map(async ([name, { who, do: what }]) => {
          if (what === "del") {
            await ipams[who].releaseByHandle(name);
            holds.delete(name);
          } else if (!holds.has(name)) {
            holds.set(name, await add(ipams[who], name, who === "other" ? "n2" : "n1"));
          }
        }),
      );
    }
    const { faults, held } = await soundness(world.datastore);
    deepEqual(faults, []);
    deepEqual(new Map([...held].map(([address, handle]) => [handle, address])), holds);
    equal(new Set(holds.values()).size, holds.size);
  };
  await fc.assert(fc.asyncProperty(rounds, run), { numRuns: 25 });
});

test("a datastore that loses writes and answers: nothing is given twice, and what is given back leaves nothing behind", async () => {
  const names = Array.from({ length: 12 }, (_, at) => `pod-${at}`);
  const run = async (turns: readonly (readonly number[])[]) => {
    await using world = await cluster({ cidr: "10.65.0.0/26", blockSize: 28, isSlow: true });
    const ipam = await world.resident("n1");
    const holds = new Map<string, string>();
    for (const turn of turns) {
      world.datastore.faults.chance = 0.15;
      await Promise.all(
        [...new Set(turn)].map(async (at) => {
          const name = names[at] ?? "";
          if (holds.has(name)) {
            const isGone = await ipam.releaseByHandle(name).then(
              () => true,
              () => false,
            );
            if (isGone) holds.delete(name);
          } else {
            const address = await add(ipam, name).catch(() => undefined);
            if (address !== undefined) holds.set(name, address);
          }
        }),
      );
      world.datastore.faults.chance = 0;
      equal(new Set(holds.values()).size, holds.size);
    }
    await Promise.all(names.map((name) => ipam.releaseByHandle(name)));
    const { faults, held } = await soundness(world.datastore);
    deepEqual([...held], []);
    deepEqual(
      faults.filter((says) => /^handle /.test(says)),
      [],
    );
  };
  const turns = fc.array(fc.array(fc.nat(11), { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 5 });
  await fc.assert(fc.asyncProperty(turns, run), { numRuns: 15 });
});
