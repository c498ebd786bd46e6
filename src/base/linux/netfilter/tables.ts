// Which tables of packet rules there are. Asked of the kernel itself: for `list tables` nft 1.0 first reads everything that is in them.
import { CattailError } from "../../lib/index.ts";
import { readAnswer, readDone, refused } from "../netlink/kernel-answer.ts";
import type { KernelSocket } from "../netlink/kernel-socket.ts";
import { readMessages } from "../netlink/messages/message-reader.ts";
import { MessageWriter } from "../netlink/messages/message-writer.ts";
import { flags, messageTypes } from "../netlink/messages/numbers.ts";

/** As in `nft list tables`. */
export type NftTable = { readonly family: string; readonly name: string };

const subsystem = 10 << 8;
const [newTable, getTable] = [subsystem | 0, subsystem | 1];
const families = new Map([
  [1, "inet"],
  [2, "ip"],
  [3, "arp"],
  [5, "netdev"],
  [7, "bridge"],
  [10, "ip6"],
]);
const nameAttribute = 1;
const headerBytes = 4;
const tries = 10;

export function readTables(socket: KernelSocket): readonly NftTable[] {
  for (let sequence = 1; sequence <= tries; sequence += 1) {
    const found = dump(socket, sequence);
    if (found !== "changed meanwhile") return found;
  }
  throw noAnswer(`they changed in each of ${tries} tries`);
}

function dump(socket: KernelSocket, sequence: number): readonly NftTable[] | "changed meanwhile" {
  const out = new MessageWriter();
  out.begin(getTable, flags.NLM_F_REQUEST | flags.NLM_F_DUMP, sequence);
  for (const byte of [0, 0, 0, 0]) out.u8(byte); // of every family
  out.end();
  socket.send(out.bytes());
  const buffer = new Uint8Array(64 * 1024);
  const found: NftTable[] = [];
  let isWhole = true;
  for (;;) {
    const received = socket.receive(buffer); // each part of a dump is there when it is asked for
    if (typeof received !== "number" || received > buffer.length) throw noAnswer(String(received));
    for (const message of readMessages(buffer.subarray(0, received))) {
      if (message.sequence !== sequence) continue;
      if ((message.flags & flags.NLM_F_DUMP_INTR) !== 0) isWhole = false;
      if (message.type === messageTypes.NLMSG_DONE || message.type === messageTypes.NLMSG_ERROR) {
        const answer = message.type === messageTypes.NLMSG_DONE ? readDone(message) : readAnswer(message);
        if (answer.errno !== 0) throw refused("list tables of packet rules", answer, out.bytes());
        return isWhole ? found : "changed meanwhile";
      }
      if (message.type !== newTable) continue;
      const number = message.body.u8();
      message.body.from(headerBytes).attributes((attribute, value) => {
        if (attribute === nameAttribute)
          found.push({ family: families.get(number) ?? String(number), name: value.text() });
      });
    }
  }
}

function noAnswer(why: string): CattailError {
  return new CattailError("NETLINK_NO_ANSWER", {
    problem: `the kernel's list of tables cannot be read: ${why}`,
    next: "Try again; nft list tables shows what there is",
  });
}
