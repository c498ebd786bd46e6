// The library over a datastore in memory: what callers see of it. The stored objects of every case that was recorded are compared in
// test/system/ipam-golden.test.ts, on real datastores.
import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { addressText, parseRange, rangeText, systemClock } from "../../base/lib/index.ts";
import { createMemoryDatastore } from "../datastore/index.ts";
import { openResources } from "../resources/index.ts";
import { openIpamAccess } from "./datastore-access.ts";
import type { AutoAssignRequest } from "./ipam.ts";
import { ipamSteps } from "./ipam-steps.ts";
import { openIpam } from "./open-ipam.ts";

async function world(pools: readonly { name: string; spec: object }[]) {
  const datastore = createMemoryDatastore({ clock: systemClock });
  const edge = { clock: systemClock, random: Math.random };
  const resources = openResources(datastore);
  for (const name of ["n1", "n2"])
    await datastore.create("Node", { metadata: { name }, kind: "Node", apiVersion: "v1" });
  for (const { name, spec } of pools) await resources.create("IPPool", { metadata: { name }, spec });
  return { datastore, resources, ipam: openIpam(openIpamAccess(datastore, edge), edge) };
}

const small = { name: "small", spec: { cidr: "10.9.0.0/28", blockSize: 30 } };
const six = { name: "six", spec: { cidr: "fd00::/124", blockSize: 126 } };
const on = (node: string, handle: string): AutoAssignRequest => ({
  node,
  use: "Workload",
  handle,
  attributes: { node },
  ipv4: { count: 1 },
});
const shown = (of: { addresses: readonly { address: { family: 4 | 6; first: bigint } }[] }) =>
  of.addresses.map(({ address }) => addressText(address.family, address.first));

test("an address is assigned, is found under its handle, and is free after its release", async () => {
  const { ipam } = await world([small]);
  const { ipv4 } = await ipam.autoAssign(on("n1", "h1"));
  const [text = ""] = shown(ipv4);
  deepEqual(
    (await ipam.ipsByHandle("h1"))?.map(({ address }) => rangeText(address)),
    [`${text}/32`],
  );
  const seen = await ipam.getAssignmentAttributes(text);
  equal(seen.is === "assigned" && seen.attribute.handle_id, "h1");
  deepEqual((await ipam.releaseByHandle("h1")).map(rangeText), [`${text}/32`]);
  equal((await ipam.getAssignmentAttributes(text)).is, "free");
  equal(await ipam.ipsByHandle("h1"), undefined);
  deepEqual(await ipam.releaseByHandle("h1"), []);
});

test("sequence numbers above 2^53 stay exact through every write", async () => {
  const { ipam, datastore } = await world([small]);
  await ipam.autoAssign(on("n1", "h1"));
  const numberOf = async () => {
    for await (const { items } of datastore.list("IPAMBlock", { signal: new AbortController().signal })) {
      for (const { value } of items) return (value as { spec: { sequenceNumber: bigint } }).spec.sequenceNumber;
    }
    return 0n;
  };
  const before = await numberOf();
  equal(typeof before, "bigint");
  await ipam.autoAssign(on("n1", "h2"));
  equal(await numberOf(), before + 1n);
});

test("where the second family has no pool, the first one's address is given back", async () => {
  const { ipam } = await world([small]);
  await rejects(ipam.autoAssign({ ...on("n1", "h1"), ipv6: { count: 1 } }), {
    code: "no-pool",
    message: "cannot find a qualified ippool",
  });
  equal(await ipam.ipsByHandle("h1"), undefined);
});

test("both families share a handle", async () => {
  const { ipam } = await world([small, six]);
  await ipam.autoAssign({ ...on("n1", "h1"), ipv6: { count: 1 } });
  equal((await ipam.ipsByHandle("h1"))?.length, 2);
  equal((await ipam.releaseByHandle("h1")).length, 2);
});

test("of too few addresses none is kept, unless fewer are fine", async () => {
  const { ipam } = await world([{ name: "tiny", spec: { cidr: "10.9.0.0/30", blockSize: 30 } }]);
  const asked = { ...on("n1", "h1"), ipv4: { count: 5 } };
  await rejects(ipam.autoAssign(asked), {
    code: "too-few",
    message:
      "failed to request IPv4 addresses: Assigned 4 out of 5 requested IPv4 addresses; No IPs available in pools: [10.9.0.0/30]",
  });
  equal(await ipam.ipsByHandle("h1"), undefined);
  const { ipv4 } = await ipam.autoAssign({ ...asked, fewerIsFine: true });
  equal(ipv4.addresses.length, 4);
});

test("a node that is not there gets no address", async () => {
  const { ipam } = await world([small]);
  await rejects(
    ipam.autoAssign(on("n9", "h1")),
    /resource does not exist: Node\(n9\) with error: nodes "n9" not found/,
  );
});

test("services share the blocks of one virtual owner", async () => {
  const { ipam } = await world([
    { name: "lb", spec: { cidr: "10.8.0.0/28", blockSize: 30, allowedUses: ["LoadBalancer"] } },
  ]);
  await ipam.autoAssign({ ...on("", "lb-1"), use: "LoadBalancer" });
  const [held] = (await ipam.ipsByHandle("lb-1")) ?? [];
  const seen = await ipam.getAssignmentAttributes(addressText(4, held?.address.first ?? 0n));
  equal(seen.is === "assigned" && seen.block.owner, "virtual:load-balancer");
});

test("claims: of a range, refused where others have blocks, and given back", async () => {
  const { ipam } = await world([small]);
  await ipam.claimAffinity("10.9.0.4/30", "n2");
  const { claimed, refused } = await ipam.claimAffinity("10.9.0.0/29", "n1");
  deepEqual([claimed.map(rangeText), refused.map(rangeText)], [["10.9.0.0/30"], ["10.9.0.4/30"]]);
  await rejects(ipam.claimAffinity("10.9.0.0/31", "n1"), /is smaller than the minimum/);
  await rejects(ipam.claimAffinity("10.7.0.0/24", "n1"), /is not within any configured pools/);
  await ipam.assignIP({ ...on("n1", "h1"), address: "10.9.0.1" });
  const kept = await ipam.releaseHostAffinities("n1", { mustBeEmpty: true });
  deepEqual(
    kept.refused.map(({ cidr, says }) => [cidr, says]),
    [["10.9.0.0/30", "block '10.9.0.0/30' is not empty"]],
  );
  equal((await ipam.removeHost("n1")).released.length, 1);
  equal((await ipam.releasePoolAffinities("10.9.0.0/28")).released.length, 1);
});

test("ensureBlock claims one block for each family with pools, and no second one", async () => {
  const { ipam } = await world([small]);
  const first = await ipam.ensureBlock("n1");
  equal(first.ipv6, undefined);
  deepEqual(await ipam.ensureBlock("n1"), first);
});

test("a configuration that contradicts itself is refused; another is read back", async () => {
  const { ipam } = await world([]);
  const config = await ipam.getConfig();
  equal(config.autoAllocateBlocks, true);
  await rejects(ipam.setConfig({ ...config, autoAllocateBlocks: false }), /at the same time/);
  await rejects(ipam.setConfig({ ...config, maxBlocksPerHost: 2 }), /requires StrictAffinity/);
  await ipam.setConfig({ ...config, strictAffinity: true, maxBlocksPerHost: 2 });
  deepEqual(await ipam.getConfig(), { ...config, strictAffinity: true, maxBlocksPerHost: 2 });
});

test("utilization counts held, reserved and available addresses of each pool", async () => {
  const { ipam, resources } = await world([small]);
  await resources.create("IPReservation", { metadata: { name: "r" }, spec: { reservedCIDRs: ["10.9.0.2/31"] } });
  await ipam.assignIP({ ...on("n1", "h1"), address: "10.9.0.1" });
  const [use] = (await ipam.getUtilization()).pools;
  const [block] = use?.blocks ?? [];
  deepEqual([use?.cidr, block?.total, block?.inUse, block?.reserved, block?.free], ["10.9.0.0/28", 4n, 1n, 2n, 1n]);
  deepEqual((await ipam.getUtilization(["other"])).pools, []);
});

test("what calico/resources asks for when a node goes releases its addresses", async () => {
  const { ipam } = await world([small]);
  await ipam.assignIP({ ...on("n1", "h1"), address: "10.9.0.1" });
  await ipamSteps(() => ipam).releaseAddresses(["10.9.0.1", "not an address"], {});
  equal((await ipam.getAssignmentAttributes("10.9.0.1")).is, "free");
});

test("deleting a pool gives its blocks back through the library", async () => {
  const { ipam, datastore } = await world([small]);
  await ipam.autoAssign(on("n1", "h1"));
  await ipam.ensureBlock("n2");
  await openResources(datastore, { ipam: ipamSteps(() => ipam) }).delete("IPPool", { namespace: "", name: "small" });
  const owners: unknown[] = [];
  for await (const { items } of datastore.list("IPAMBlock", { signal: new AbortController().signal })) {
    owners.push(...items.map(({ value }) => (value as { spec: { affinity?: string } }).spec.affinity));
  }
  deepEqual(owners, [undefined]); // the one in use, without its owner
});

test("an address is released only for the handle that holds it", async () => {
  const { ipam } = await world([small]);
  await ipam.assignIP({ ...on("n1", "h1"), address: "10.9.0.1" });
  const address = parseRange("10.9.0.1/32");
  if (address === undefined) throw new Error("no range");
  const { conflicts } = await ipam.releaseIPs([{ address, handle: "other" }]);
  deepEqual(conflicts, [
    { cidr: "10.9.0.0/30", says: "the given handle (other) does not match (h1) when attempting to release IP" },
  ]);
});
