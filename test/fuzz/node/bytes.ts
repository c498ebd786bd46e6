// What comes as bytes, or over the agent's socket: tracked connections, logged packets and changes of packet rules as the kernel tells them, and the
// calls of the plugins. Links, addresses, routes and rules are the netlink fuzzer's (npm run fuzz:netlink).
import { readAnswer, readRequest } from "../../../src/base/linux/calls/envelope.ts";
import { readConnection } from "../../../src/base/linux/conntrack/messages.ts";
import { readPackets } from "../../../src/base/linux/netfilter/packet-log.ts";
import { RulesetChanges } from "../../../src/base/linux/netfilter/ruleset-changes.ts";
import { readMessages } from "../../../src/base/linux/netlink/messages/message-reader.ts";
import { MessageWriter } from "../../../src/base/linux/netlink/messages/message-writer.ts";
import { readResidentRequest } from "../../../src/node/cni/resident/request.ts";
import { readHeaders } from "../../../src/node/dataplane/show/drops.ts";
import type { Random } from "../../kit/random.ts";
import { bent, bentText } from "./bend.ts";
import type { Targets } from "./case.ts";

export const kernelBytes = {
  conntrack: () =>
    ofBytes(connections(), (bytes) => [...readMessages(bytes)].forEach((one) => void readConnection(one))),
  "packet-log": () =>
    ofBytes(loggedPackets(), (bytes) => {
      for (const { packet } of readPackets(bytes)) readHeaders(packet);
    }),
  "rule-changes": () => ofBytes(ruleChanges(), changesOf()),
  calls: () => (random) => {
    const whole = JSON.stringify(bent(residentCall, random));
    const line = random.isOneIn(4) ? bentText(whole, random) : whole;
    return {
      input: line,
      read: () => {
        if (random.isOneIn(2)) readResidentRequest(readRequest(line).body);
        else readAnswer(line);
      },
    };
  },
} satisfies Targets;

function ofBytes(corpus: readonly Uint8Array[], read: (bytes: Uint8Array) => void) {
  return (random: Random) => {
    const bytes = bentBytes(random.pick(corpus), random);
    return { input: Buffer.from(bytes).toString("hex"), read: () => read(bytes) };
  };
}

function bentBytes(whole: Uint8Array, random: Random): Uint8Array {
  let bytes = whole.slice();
  for (let i = 1 + random.below(6); i > 0; i--) {
    const at = random.below(Math.max(1, bytes.length));
    const way = random.below(6);
    if (way === 0) bytes[at] = random.below(256);
    else if (way === 1) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    else if (way === 2) bytes = bytes.slice(0, at);
    else if (way === 3) bytes[at] = random.pick([0, 1, 3, 4, 5, 255]);
    else if (way === 4)
      bytes = new Uint8Array([...bytes.slice(0, at), ...bytes.slice(random.below(Math.max(1, bytes.length)))]);
    else bytes.copyWithin(at, random.below(Math.max(1, bytes.length)));
  }
  return bytes.slice(0, 65_536);
}

function messages(type: number, header: readonly number[], write: (out: MessageWriter) => void): Uint8Array {
  const out = new MessageWriter();
  out.begin(type, 0, 7);
  out.raw(new Uint8Array(header));
  write(out);
  out.end();
  return out.bytes().slice();
}

const attribute = (type: number, value: Uint8Array): Uint8Array => {
  const out = new MessageWriter();
  out.attribute(type, value);
  return out.bytes().slice();
};
const joined = (...parts: readonly Uint8Array[]) => new Uint8Array(parts.flatMap((part) => [...part]));
const text = (value: string) => new TextEncoder().encode(`${value}\0`);

function connections(): readonly Uint8Array[] {
  const tuple = (length: number, [source, destination]: readonly [number, number]) =>
    joined(
      attribute(
        1,
        joined(
          attribute(source, new Uint8Array(length).fill(10)),
          attribute(destination, new Uint8Array(length).fill(9)),
        ),
      ),
      attribute(2, joined(attribute(1, new Uint8Array([6])), attribute(2, new Uint8Array([0, 80])))),
    );
  const of = (family: number, length: number, which: readonly [number, number]) =>
    messages(0x100, [family, 0, 0, 0], (out) => {
      out.attribute(1 | 0x8000, tuple(length, which));
      out.attribute(2 | 0x8000, tuple(length, which));
      out.attribute(12, new Uint8Array([1, 2, 3, 4]));
      out.attribute(18, new Uint8Array([0, 1]));
    });
  return [of(2, 4, [1, 2]), of(10, 16, [3, 4])];
}

function loggedPackets(): readonly Uint8Array[] {
  const four = new Uint8Array(40);
  four.set([0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x1f, 0x90, 0, 80]);
  const six = new Uint8Array(60);
  six.set([0x60, 0, 0, 0, 0, 20, 58, 64]);
  return [four, six].map((packet) =>
    messages(0x400, [2, 0, 0, 0], (out) => {
      out.attribute(10, text("GlobalNetworkPolicy p rule 1"));
      out.attribute(4, new Uint8Array([0, 0, 0, 3]));
      out.attribute(5, new Uint8Array([0, 0, 0, 4]));
      out.attribute(9, packet);
    }),
  );
}

function ruleChanges(): readonly Uint8Array[] {
  const change = messages(0xa06, [1, 0, 0, 0], (out) => {
    out.attribute(1, text("cattail"));
    out.attribute(2, text("forward"));
  });
  return [
    joined(
      change,
      messages(0xa0f, [1, 0, 0, 0], (out) => out.attribute(1, new Uint8Array([0, 0, 0, 9]))),
    ),
  ];
}

/** One socket for all cases: it has a large buffer. */
function changesOf(): (bytes: Uint8Array) => void {
  let next: Uint8Array | undefined;
  const changes = new RulesetChanges({
    send: () => undefined,
    receive: (into) => {
      if (next === undefined) return "nothing";
      const { length } = next;
      into.set(next);
      next = undefined;
      return length;
    },
    wait: () => Promise.resolve(),
    wake: () => undefined,
    [Symbol.dispose]: () => undefined,
  });
  return (bytes) => {
    next = bytes;
    changes.take();
  };
}

const residentCall = {
  version: 1,
  call: "cni",
  is: "failed",
  error: { code: "X", problem: "y", next: "z" },
  body: {
    protocol: 1,
    plugin: "calico",
    variables: { CNI_COMMAND: "ADD", CNI_CONTAINERID: "abc" },
    stdin: "{}",
    seen: { node: "4:41", pod: "4:99" },
    ipam: { file: "/opt/cni/bin/calico-ipam", id: "5:3", isOwn: true },
  },
};
