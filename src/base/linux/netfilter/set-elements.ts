// Elements of sets of packet rules, changed without nft's library, which reads the names of all sets before each change (2 ms where there are
// 1,000). One transaction for all sets that are given, taken or refused as a whole. Rules are left to nft.
//
//   BATCH_BEGIN ─▶ for each set: DELSETELEM without elements empties it ─▶ NEWSETELEM ─▶ BATCH_END
import { errnoName } from "../ffi/libc.ts";
import { readAnswer } from "../netlink/kernel-answer.ts";
import type { KernelSocket } from "../netlink/kernel-socket.ts";
import { readMessages } from "../netlink/messages/message-reader.ts";
import { MessageWriter } from "../netlink/messages/message-writer.ts";
import { flags, messageTypes } from "../netlink/messages/numbers.ts";

/** Of a set with intervals: where one begins, or the first key behind it. Of another set: an element. */
export type SetKey = { readonly bytes: Uint8Array; readonly isEnd: boolean };

export type SetChange = {
  readonly set: string;
  /** What it holds goes, before anything is added. */
  readonly isEmptied: boolean;
  /** Intervals in the order of their addresses, each with its beginning first. */
  readonly added: readonly SetKey[];
};

export type TableOfSets = { readonly family: "inet" | "arp"; readonly name: string };

const subsystem = 10;
const [batchBegin, batchEnd] = [16, 17];
const [newElements, deleteElements] = [(subsystem << 8) | 12, (subsystem << 8) | 14];
const familyNumbers = { inet: 1, arp: 3 } as const;
const [inTable, ofSet, elementList] = [1, 2, 3];
const listEntry = 1;
const [keyAttribute, flagsAttribute] = [1, 3];
const valueAttribute = 1;
/** NFT_SET_ELEM_INTERVAL_END, in network order. */
const intervalEnd = new Uint8Array([0, 0, 0, 1]);
/** An attribute holds 64 KB; the longest key takes 52 bytes with what is around it. */
const mostAtOnce = 1_000;
const answerBytes = 64 * 1024;

export class SetElements implements Disposable {
  readonly #socket: KernelSocket;
  readonly #out = new MessageWriter();
  readonly #answer = new Uint8Array(answerBytes);
  #sequence = 0;

  constructor(socket: KernelSocket) {
    this.#socket = socket;
  }

  /** Undefined: taken. Else why it is not known to be: what the kernel said, or that it did not answer. */
  change(table: TableOfSets, changes: readonly SetChange[]): string | undefined {
    this.#out.clear();
    this.#bracket(batchBegin);
    const first = this.#sequence + 1;
    for (const change of changes) this.#write(table, change);
    const last = this.#sequence;
    this.#bracket(batchEnd);
    if (last < first) return undefined;
    this.#socket.send(this.#out.bytes());
    return this.#outcome(first, last);
  }

  [Symbol.dispose](): void {
    this.#socket[Symbol.dispose]();
  }

  #write(table: TableOfSets, { set, isEmptied, added }: SetChange): void {
    if (isEmptied) this.#message(deleteElements, table, set, []);
    for (let at = 0; at < added.length; at += mostAtOnce)
      this.#message(newElements, table, set, added.slice(at, at + mostAtOnce));
  }

  #message(type: number, { family, name }: TableOfSets, set: string, keys: readonly SetKey[]): void {
    const out = this.#out;
    const create = type === newElements ? flags.NLM_F_CREATE : 0;
    this.#sequence += 1;
    out.begin(type, flags.NLM_F_REQUEST | flags.NLM_F_ACK | create, this.#sequence);
    for (const byte of [familyNumbers[family], 0, 0, 0]) out.u8(byte);
    out.attributeText(inTable, name);
    out.attributeText(ofSet, set);
    if (keys.length > 0)
      out.nest(elementList, () => {
        for (const key of keys) this.#element(key);
      });
    out.end();
  }

  #element({ bytes, isEnd }: SetKey): void {
    const out = this.#out;
    out.nest(listEntry, () => {
      out.nest(keyAttribute, () => out.attribute(valueAttribute, bytes));
      if (isEnd) out.attribute(flagsAttribute, intervalEnd);
    });
  }

  #bracket(type: number): void {
    this.#out.begin(type, flags.NLM_F_REQUEST, 0);
    for (const byte of [0, 0, 0, subsystem]) this.#out.u8(byte); // the subsystem in network order
    this.#out.end();
  }

  /** The kernel has worked when the batch is sent: its answers are there. */
  #outcome(first: number, last: number): string | undefined {
    let taken = 0;
    for (;;) {
      const received = this.#socket.receive(this.#answer);
      if (received === "nothing") return taken === last - first + 1 ? undefined : "the kernel did not answer";
      if (received === "overrun" || received > this.#answer.length) return "the kernel's answer is not whole";
      for (const message of readMessages(this.#answer.subarray(0, received))) {
        // A refusal of the whole batch is an answer to its beginning.
        const isOurs = message.sequence === 0 || (message.sequence >= first && message.sequence <= last);
        if (message.type !== messageTypes.NLMSG_ERROR || !isOurs) continue;
        const { errno, text } = readAnswer(message);
        if (errno === 0) taken += 1;
        else return [errnoName(errno), text].filter((word) => word !== undefined).join(": ");
      }
    }
  }
}
