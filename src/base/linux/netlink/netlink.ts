// Asking and changing: one socket, one request at a time, answers matched by sequence number.
//
//   changes ─▶ messages in one datagram (the last asks for an acknowledgement) ─▶ kernel: one after another ─▶ refusals, by number; the
//   acknowledgement of the last says that all were looked at
//
// The kernel has answered when send() returns, so nothing waits here as a rule; wait() is for the rest.
import { constants } from "node:os";
import { CattailError, type Clock, settleWithin, systemClock } from "../../lib/index.ts";
import { describeChange, type KernelChange, writeChange } from "./changes.ts";
import {
  type AddressFilter,
  type Arriving,
  type Dump,
  dumpAddresses,
  dumpLinks,
  dumpNeighbours,
  dumpRoutes,
  dumpRules,
  type LinkFilter,
  type NeighbourFilter,
  namespaceId,
  oneLink,
  type RouteFilter,
  type RuleFilter,
  routeTo,
} from "./dumps.ts";
import { readAnswer, readDone, refused } from "./kernel-answer.ts";
import type { KernelSocket } from "./kernel-socket.ts";
import type { Address } from "./messages/addresses.ts";
import type { Link, LinkRef } from "./messages/links.ts";
import { type Message, readMessages } from "./messages/message-reader.ts";
import { MessageWriter } from "./messages/message-writer.ts";
import type { Neighbour } from "./messages/neighbours.ts";
import { flags, messageTypes } from "./messages/numbers.ts";
import type { Route } from "./messages/routes.ts";
import type { Rule } from "./messages/rules.ts";

/** What became of each change, in their order. */
export type Outcome = { readonly is: "done" } | { readonly is: "refused"; readonly error: CattailError };

const done: Outcome = { is: "done" };
const answerBytes = 128 * 1024; // the kernel's largest part of a dump is 32 KiB, of a batch's answers one message
const answerLimitMs = 10_000;
const mostChangesAtOnce = 256; // refusals of all of them fit into the smallest receive buffer
const mostBytesAtOnce = 64 * 1024;
const mostDumps = 8;
const mostEntries = 4_000_000;
const partsATurn = 64; // of a large dump: then others get a turn
const batchesATurn = 16;

export class Netlink implements AsyncDisposable {
  readonly #socket: KernelSocket;
  readonly #clock: Clock;
  readonly #out = new MessageWriter();
  readonly #buffer = new Uint8Array(answerBytes);
  #sequence = 0;
  #line: Promise<unknown> = Promise.resolve();

  /** The socket is this one's from now on. */
  constructor(socket: KernelSocket, clock: Clock = systemClock) {
    this.#socket = socket;
    this.#clock = clock;
  }

  links(filter: LinkFilter = {}): Promise<Link[]> {
    return this.#dump(dumpLinks(filter));
  }

  /** Undefined: there is none. */
  link(link: LinkRef): Promise<Link | undefined> {
    return this.#get(oneLink(link));
  }

  /** As `peerNamespaceId` of links names it. Undefined: no link has its peer there. */
  async namespaceId({ fd }: { readonly fd: number }): Promise<number | undefined> {
    const id = await this.#get(namespaceId(fd));
    return id === undefined || id < 0 ? undefined : id;
  }

  /** The route that a packet to the address takes. Throws the kernel's refusal where there is none, or one that refuses (ENETUNREACH, EHOSTUNREACH, ...). */
  /** Of this host's own packets; or of one that arrives, from somebody and on an interface. */
  async routeTo(address: string, arriving?: Arriving): Promise<Route> {
    const route = await this.#get(routeTo(address, arriving));
    if (route === undefined) throw lostAnswer(`the route to ${address}`, "it is of another kind");
    return route;
  }

  addresses(filter: AddressFilter = {}): Promise<Address[]> {
    return this.#dump(dumpAddresses(filter));
  }

  /** Of all tables and both families, unless the filter says otherwise. */
  routes(filter: RouteFilter = {}): Promise<Route[]> {
    return this.#dump(dumpRoutes(filter));
  }

  neighbours(filter: NeighbourFilter): Promise<Neighbour[]> {
    return this.#dump(dumpNeighbours(filter));
  }

  rules(filter: RuleFilter = {}): Promise<Rule[]> {
    return this.#dump(dumpRules(filter));
  }

  /** Throws what the kernel refuses. */
  async change(change: KernelChange): Promise<void> {
    const [outcome] = await this.changeAll([change]);
    if (outcome?.is === "refused") throw outcome.error;
  }

  /** All of them in order, whatever becomes of the ones before. One that cannot be written is thrown before any is done. */
  changeAll(changes: readonly KernelChange[]): Promise<Outcome[]> {
    return this.#inLine(async () => {
      const outcomes: Outcome[] = [];
      for (const [i, batch] of this.#writeBatches(changes).entries()) {
        if (i > 0 && i % batchesATurn === 0) await turn();
        this.#socket.send(this.#out.bytes().subarray(batch.starts[0], batch.end));
        outcomes.push(...(await this.#outcomesOf(changes, outcomes.length, batch)));
      }
      return outcomes;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#line.catch(() => undefined); // whoever asked has the error
    this.#socket[Symbol.dispose]();
  }

  /** Answers of two requests would mix. */
  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#line.then(work, work);
    this.#line = mine.catch(() => undefined);
    return mine;
  }

  #next(): number {
    this.#sequence = (this.#sequence % 0x7fff_ffff) + 1;
    return this.#sequence;
  }

  #writeBatches(changes: readonly KernelChange[]): Batch[] {
    this.#out.clear();
    const batches: Batch[] = [];
    if (this.#sequence > 0x7000_0000) this.#sequence = 0; // within a batch they are in a row
    let batch: Batch = { firstSequence: 0, starts: [], end: 0 };
    for (const [i, change] of changes.entries()) {
      if (batch.starts.length === 0) batch = { firstSequence: this.#sequence + 1, starts: [], end: 0 };
      batch.starts.push(this.#out.length);
      writeChange(this.#out, change, this.#next());
      batch.end = this.#out.length;
      const bytes = batch.end - (batch.starts[0] ?? 0);
      if (i + 1 < changes.length && batch.starts.length < mostChangesAtOnce && bytes < mostBytesAtOnce) continue;
      this.#out.addFlags(flags.NLM_F_ACK);
      batches.push(batch);
      batch = { firstSequence: 0, starts: [], end: 0 };
    }
    return batches;
  }

  async #outcomesOf(changes: readonly KernelChange[], from: number, batch: Batch): Promise<Outcome[]> {
    const outcomes = batch.starts.map((): Outcome => done);
    const last = outcomes.length - 1;
    for (;;) {
      for (const message of await this.#receive("a change")) {
        if (message.type !== messageTypes.NLMSG_ERROR) continue;
        const i = message.sequence - batch.firstSequence;
        if (i < 0 || i > last) continue; // of a request that was given up
        const answer = readAnswer(message);
        if (answer.errno !== 0) {
          const request = this.#out.bytes().subarray(batch.starts[i], batch.starts[i + 1] ?? batch.end);
          const error = refused(describeChange(changes[from + i] as KernelChange), answer, request);
          outcomes[i] = { is: "refused", error };
        }
        if (i === last) return outcomes;
      }
    }
  }

  /** Again from the start where something changed meanwhile: a dump is a state that was, or it is nothing. */
  #dump<T>(dump: Dump<T>): Promise<T[]> {
    return this.#inLine(async () => {
      for (let attempt = 1; ; attempt++) {
        const entries = await this.#dumpOnce(dump);
        if (entries !== "interrupted") return entries;
        if (attempt === mostDumps) throw neverStill(dump.what);
        await this.#clock.sleep(2 ** attempt);
      }
    });
  }

  #get<T>(one: Dump<T>): Promise<T | undefined> {
    return this.#inLine(async () => {
      const sequence = this.#send(one, flags.NLM_F_REQUEST);
      for (;;) {
        for (const message of await this.#receive(one.what)) {
          if (message.sequence !== sequence) continue;
          if (message.type === one.answerType) return one.read(message.body);
          if (message.type !== messageTypes.NLMSG_ERROR) continue;
          const answer = readAnswer(message);
          if (one.isOfOne && isAbsence(answer.errno)) return undefined;
          throw refused(`find ${one.what}`, answer, this.#out.bytes());
        }
      }
    });
  }

  #send(request: Dump<unknown>, requestFlags: number): number {
    const sequence = this.#next();
    this.#out.clear();
    this.#out.begin(request.type, requestFlags, sequence);
    request.write(this.#out);
    this.#out.end();
    this.#socket.send(this.#out.bytes());
    return sequence;
  }

  async #dumpOnce<T>(dump: Dump<T>): Promise<T[] | "interrupted"> {
    const sequence = this.#send(dump, flags.NLM_F_REQUEST | flags.NLM_F_DUMP);
    const entries: T[] = [];
    let isInterrupted = false;
    for (let part = 1; ; part++) {
      for (const message of await this.#receive(dump.what)) {
        if (message.sequence !== sequence) continue;
        if ((message.flags & flags.NLM_F_DUMP_INTR) !== 0) isInterrupted = true;
        if (message.type === messageTypes.NLMSG_DONE || message.type === messageTypes.NLMSG_ERROR) {
          const answer = message.type === messageTypes.NLMSG_DONE ? readDone(message) : readAnswer(message);
          if (answer.errno !== 0 && !(dump.isOfOne && isAbsence(answer.errno))) {
            throw refused(`list ${dump.what}`, answer, this.#out.bytes());
          }
          return isInterrupted ? "interrupted" : entries;
        }
        if (message.type !== dump.answerType) continue;
        const entry = dump.read(message.body);
        if (entry !== undefined) entries.push(entry);
      }
      if (entries.length > mostEntries) throw tooMany(dump.what);
      if (part % partsATurn === 0) await turn();
    }
  }

  async #receive(what: string): Promise<Iterable<Message>> {
    for (;;) {
      const length = this.#socket.receive(this.#buffer);
      if (length === "overrun") throw lostAnswer(what, "its receive buffer was full");
      if (length !== "nothing") {
        if (length > this.#buffer.length) throw lostAnswer(what, `it has ${length} bytes`);
        return readMessages(this.#buffer.subarray(0, length));
      }
      const waited = await settleWithin(this.#socket.wait(), { clock: this.#clock, limitMs: answerLimitMs });
      if (waited.is === "late") throw lostAnswer(what, `none came within ${answerLimitMs} ms`);
    }
  }
}

type Batch = {
  readonly firstSequence: number;
  /** Where in what was written each message begins. */
  readonly starts: number[];
  end: number;
};

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isAbsence(errno: number): boolean {
  return errno === constants.errno.ENOENT || errno === constants.errno.ENODEV;
}

function lostAnswer(what: string, why: string): CattailError {
  return new CattailError("NETLINK_NO_ANSWER", {
    problem: `the kernel's answer about ${what} was lost: ${why}`,
    next: "Look at what is there now (it may have been done), and try again",
  });
}

function neverStill(what: string): CattailError {
  return new CattailError("NETLINK_DUMP_INTERRUPTED", {
    problem: `the list of ${what} changed under us each of ${mostDumps} times`,
    next: "Something changes them all the time: find it with ip monitor, and try again",
  });
}

function tooMany(what: string): CattailError {
  return new CattailError("NETLINK_TOO_MANY", {
    problem: `there are more than ${mostEntries} ${what}`,
    next: "Ask for fewer, by table, protocol or link",
  });
}
