// Pings between namespaces that the test makes.
import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { eventually } from "../../../../test/kit/eventually.ts";
import { freshNamespace, noNamespaces } from "../../../../test/kit/namespace.ts";
import { openNamespace, openNetlink, writeSysctl } from "../kernel.ts";
import { ping } from "./ping.ts";

/** Two namespaces with a link between them, of these MTUs. */
async function pair(mtu = 1500) {
  const [left, right] = [freshNamespace(), freshNamespace()];
  await using here = openNetlink({ namespace: left.path });
  await using there = openNetlink({ namespace: right.path });
  using far = openNamespace(right.path);
  const ends = { name: "one", kind: "veth", up: true, mtu, peer: { name: "two", namespaceFd: far.fd } } as const;
  await here.change({ do: "create", link: ends });
  const addresses = [
    [here, "one", ["10.77.0.1/24", "fd77::1/64"]],
    [there, "two", ["10.77.0.2/24", "fd77::2/64"]],
  ] as const;
  for (const [netlink, name, texts] of addresses) {
    const link = (await netlink.links()).find((each) => each.name === name);
    ok(link);
    await netlink.change({ do: "edit", link: { link: name, up: true, mtu } });
    for (const address of texts) {
      await netlink.change({ do: "create", address: { index: link.index, address, flags: ["nodad"] } });
    }
  }
  // The kernel takes its time over a link's carrier, the longer the more links come and go, and drops what is sent before.
  for (const [netlink, name] of addresses)
    await eventually(async () => (await netlink.link(name))?.operState === "up", `${name} has its carrier`);
  return { left: left.path, right: right.path };
}

describe("pings", { skip: noNamespaces }, () => {
  for (const [from, to] of [
    ["10.77.0.1", "10.77.0.2"],
    ["fd77::1", "fd77::2"],
  ] as const) {
    test(`${to} answers each of them`, async () => {
      const { left: namespace } = await pair();
      // Where the first neighbour solicitation is lost, the kernel asks again after a second.
      const patient = { namespace, from, count: 5, intervalMs: 1, timeoutMs: 5_000 };
      const { sent, received, roundTripsMs, refusals } = await ping(to, patient);
      deepEqual({ sent, received, refusals }, { sent: 5, received: 5, refusals: [] });
      ok(roundTripsMs.every((ms) => ms > 0));
    });
  }

  test("nobody answers for an address that is not there; the kernel says so, or nobody does", async () => {
    const { left: namespace } = await pair();
    const { received } = await ping("10.77.0.9", { namespace, count: 1, timeoutMs: 100 });
    equal(received, 0);
  });

  test("without a route nothing is sent, which is told", async () => {
    const { left: namespace } = await pair();
    deepEqual((await ping("192.0.2.1", { namespace, count: 2, intervalMs: 1 })).refusals, [
      { is: "not sent", errno: "ENETUNREACH" },
    ]);
  });

  test("whoever would pass on a packet that has made its last hop says so: it has arrived there", async () => {
    const { left, right } = await pair();
    await using netlink = openNetlink({ namespace: left });
    await netlink.change({ do: "create", route: { destination: "192.0.2.0/24", gateway: "10.77.0.2" } });
    const probe = { namespace: left, count: 1, timeoutMs: 300, hops: 1 };
    deepEqual((await ping("192.0.2.1", probe)).refusals, []);
    writeSysctl("net.ipv4.ip_forward", 1, { namespace: right });
    await using there = openNetlink({ namespace: right });
    await there.change({ do: "create", route: { destination: "192.0.2.0/24", gateway: "10.77.0.9" } });
    deepEqual((await ping("192.0.2.1", probe)).refusals, [{ is: "time exceeded" }]);
  });

  test("what fills a packet passes, and one byte more does not", async () => {
    const { left: namespace } = await pair(1400);
    const size = (payloadBytes: number) => ({ namespace, count: 1, timeoutMs: 300, payloadBytes, dontFragment: true });
    equal((await ping("10.77.0.2", size(1372))).received, 1);
    const { received, refusals } = await ping("10.77.0.2", size(1373));
    deepEqual({ received, refusals }, { received: 0, refusals: [{ is: "not sent", errno: "EMSGSIZE" }] });
  });

  test("two at the same time do not take each other's answers", async () => {
    const { left, right } = await pair();
    const all = await Promise.all([
      ping("10.77.0.2", { namespace: left, count: 20, intervalMs: 2 }),
      ping("10.77.0.2", { namespace: left, count: 10, intervalMs: 3 }),
      ping("10.77.0.1", { namespace: right, count: 10, intervalMs: 3 }),
    ]);
    deepEqual(
      all.map(({ received }) => received),
      [20, 10, 10],
    );
  });
});
