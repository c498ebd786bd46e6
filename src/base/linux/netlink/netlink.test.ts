// What the kernel answered once is read the same everywhere; and what it answers only in hard times is made up.
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { type Played, PlayedSocket } from "../../../../test/kit/played-socket.ts";
import { MessageWriter } from "./messages/message-writer.ts";
import { flags, messageTypes } from "./messages/numbers.ts";
import { Netlink } from "./netlink.ts";
import { type Notification, Notifications } from "./notifications.ts";

type Recorded = { name: string; datagrams: string[]; reads: unknown };
const recorded: Recorded[] = JSON.parse(readFileSync("test/vectors/netlink/recorded.json", "utf8"));
const bytesOf = (name: string): Uint8Array[] => {
  const found = recorded.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no recording of ${name}`);
  return found.datagrams.map((hex) => Uint8Array.from(Buffer.from(hex, "hex")));
};
const readsOf = (name: string): unknown => recorded.find((each) => each.name === name)?.reads;
/** As JSON has it: without what is undefined. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const asks: { [name: string]: (netlink: Netlink) => Promise<unknown> } = {
  links: (netlink) => netlink.links(),
  addresses: (netlink) => netlink.addresses(),
  routes: (netlink) => netlink.routes(),
  neighbours: (netlink) => netlink.neighbours({ family: "inet" }),
  "forwarding entries": (netlink) => netlink.neighbours({ family: "bridge" }),
  rules: (netlink) => netlink.rules(),
  refusal: (netlink) =>
    netlink
      .change({ do: "create", link: { name: "vx", kind: "vxlan", vxlan: { id: 99_999_999 } } })
      .catch((error: Error) => error.message),
};
for (const [name, ask] of Object.entries(asks)) {
  test(`recorded: ${name}`, async () => {
    await using netlink = new Netlink(new PlayedSocket(bytesOf(name)));
    deepEqual(plain(await ask(netlink)), readsOf(name));
  });
}

test("recorded: notifications", async () => {
  await using notifications = new Notifications(new PlayedSocket(bytesOf("notifications")));
  const wanted = readsOf("notifications") as unknown[];
  const seen: Notification[] = [];
  for await (const notification of notifications) if (seen.push(notification) === wanted.length) break;
  deepEqual(plain(seen), wanted);
});

/** One message, of the given type and number. */
function message(type: number, sequence: number, body: number[] = [], more = 0): Uint8Array {
  const out = new MessageWriter();
  out.begin(type, more, sequence);
  out.raw(Uint8Array.from(body));
  out.end();
  return out.bytes().slice();
}
const doneMessage = (sequence: number, more = 0): Uint8Array =>
  message(messageTypes.NLMSG_DONE, sequence, [0, 0, 0, 0], more);
const answer = (sequence: number, errno = 0): Uint8Array =>
  message(messageTypes.NLMSG_ERROR, sequence, [
    ...new Uint8Array(new Int32Array([-errno]).buffer),
    ...Array(16).fill(0),
  ]);
const withFlags = (datagram: Uint8Array, more: number): Uint8Array => {
  const copy = datagram.slice();
  new DataView(copy.buffer).setUint16(6, new DataView(copy.buffer).getUint16(6, true) | more, true);
  return copy;
};
const withSequence = (datagram: Uint8Array, sequence: number): Uint8Array => {
  const copy = datagram.slice();
  const view = new DataView(copy.buffer);
  for (let at = 0; at < copy.length; at += (view.getUint32(at, true) + 3) & ~3) view.setUint32(at + 8, sequence, true);
  return copy;
};

/** Everything that sleeps wakes at once. */
const hurriedClock = { wallMs: () => 0, monotonicMs: () => 0, sleep: async () => undefined };

test("a dump during which something changed is asked for again", async () => {
  const rules = bytesOf("rules");
  const interrupted = rules.map((datagram) => withFlags(datagram, flags.NLM_F_DUMP_INTR));
  const again = rules.map((datagram) => withSequence(datagram, 2));
  const socket = new PlayedSocket([...interrupted, ...again]);
  await using netlink = new Netlink(socket, hurriedClock);
  deepEqual(plain(await netlink.rules()), readsOf("rules"));
  equal(socket.sent.length, 2);
});

test("a dump during which something changes every time is given up", async () => {
  const socket = new PlayedSocket(Array.from({ length: 8 }, (_, i) => doneMessage(i + 1, flags.NLM_F_DUMP_INTR)));
  await using netlink = new Netlink(socket, hurriedClock);
  await rejects(netlink.links(), { code: "NETLINK_DUMP_INTERRUPTED" });
  equal(socket.sent.length, 8);
});

const lost: { name: string; plays: Played[]; says: RegExp }[] = [
  { name: "the kernel dropped it", plays: ["overrun"], says: /receive buffer was full/ },
  { name: "it is larger than the buffer", plays: [new Uint8Array(200_000)], says: /200000 bytes/ },
];
for (const { name, plays, says } of lost) {
  test(`an answer that is lost is an error: ${name}`, async () => {
    await using netlink = new Netlink(new PlayedSocket(plays));
    await rejects(netlink.links(), { code: "NETLINK_NO_ANSWER", message: says });
  });
}

test("an answer that does not come is an error after a while", async () => {
  const clock = new FakeClock();
  await using netlink = new Netlink(new PlayedSocket([]), clock);
  const asked = rejects(netlink.links(), { code: "NETLINK_NO_ANSWER", message: /within 10000 ms/ });
  await clock.advance(10_000);
  await asked;
});

test("answers to requests that were given up are passed over", async () => {
  const socket = new PlayedSocket([
    "overrun",
    answer(7, 1),
    doneMessage(9),
    ...bytesOf("rules").map((each) => withSequence(each, 2)),
  ]);
  await using netlink = new Netlink(socket);
  await rejects(netlink.rules());
  deepEqual(plain(await netlink.rules()), readsOf("rules"));
});

test("of a batch each refusal finds its change, and only the last asks for an answer", async () => {
  const changes = ["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24"].map(
    (destination) => ({ do: "create", route: { destination, index: 1 } }) as const,
  );
  const socket = new PlayedSocket([answer(2, 17), "nothing", answer(3)]);
  await using netlink = new Netlink(socket);
  const outcomes = await netlink.changeAll(changes);
  deepEqual(
    outcomes.map(({ is }) => is),
    ["done", "refused", "done"],
  );
  match(outcomes[1]?.is === "refused" ? outcomes[1].error.message : "", /create route 10\.0\.1\.0\/24 .*EEXIST/);
  equal(socket.sent.length, 1);
  const sent = socket.sent[0] ?? new Uint8Array();
  const view = new DataView(sent.buffer);
  const acks: boolean[] = [];
  for (let at = 0; at < sent.length; at += view.getUint32(at, true)) {
    acks.push((view.getUint16(at + 6, true) & flags.NLM_F_ACK) !== 0);
  }
  deepEqual(acks, [false, false, true]);
});

test("a change that cannot be written is thrown before any is done", async () => {
  const socket = new PlayedSocket([]);
  await using netlink = new Netlink(socket);
  for (const route of [{ destination: "10.0.0.1/24" }, { destination: "10.0.0.0/33" }, { destination: "x" }]) {
    const good = { do: "create", route: { destination: "10.0.0.0/24", index: 1 } } as const;
    await rejects(netlink.changeAll([good, { do: "create", route }]), { code: "NETLINK_VALUE" });
  }
  for (const name of ["", "..", "a/b", "a b", "sixteen-letters0"]) {
    await rejects(netlink.change({ do: "create", link: { name, kind: "bridge" } }), { code: "NETLINK_VALUE" });
  }
  equal(socket.sent.length, 0);
});

test("notifications: lost ones are told, and what waits behind them is passed over", async () => {
  const [first = new Uint8Array()] = bytesOf("notifications");
  for (const play of ["overrun", new Uint8Array(200_000), first.subarray(0, first.length - 5)] as const) {
    await using notifications = new Notifications(new PlayedSocket([first, play, first, first]));
    const told = notifications[Symbol.asyncIterator]();
    const seen: string[] = [];
    while (seen.at(-1) !== "lost") seen.push((await told.next()).value?.is ?? "ended");
    equal(seen.filter((is) => is === "set" || is === "deleted").length, 1);
  }
});
