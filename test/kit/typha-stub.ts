// The smallest server that the wire folder allows: one machine per socket, everything written at once. For tests of the
// protocol; the real one, with back-pressure and many clients, is src/typha/fanout and src/typha/server.
import { createServer as createPlainServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { zstdCompressSync } from "node:zlib";
import { type KvUpdate, type SyncerType, updateType } from "../../src/calico/model/index.ts";
import {
  type Agreement,
  encodeUpdate,
  frame,
  kvsMessage,
  type ServerDecision,
  type ServerStream,
  serverStreams,
  type WireTime,
} from "../../src/typha/wire/index.ts";
import { serverMachine } from "./server-machine.ts";

export type StubData = { readonly snapshot: readonly KvUpdate[]; readonly changes: readonly KvUpdate[] };

export type StubOptions = {
  /** What a client with this agreement is served. */
  readonly data: (agreement: Agreement) => StubData;
  readonly tls?: TlsOptions;
  readonly zstd?: boolean;
  readonly messageKvs?: number;
};

export type TyphaStub = AsyncDisposable & {
  readonly port: number;
  readonly agreements: Agreement[];
  readonly pongs: WireTime[];
  readonly closed: string[];
  /** Resolves when the clients that have connected are gone, and what they said last was heard. */
  clientsGone(): Promise<void>;
};

export const pingTimestamp: WireTime = { seconds: 1_700_000_000n, nanos: 123_456_789, offsetSeconds: "utc" };

export async function startTyphaStub(options: StubOptions): Promise<TyphaStub> {
  const stub = { port: 0, agreements: [] as Agreement[], pongs: [] as WireTime[], closed: [] as string[] };
  const sockets = new Set<Socket>();
  const gone: Promise<unknown>[] = [];
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    gone.push(new Promise((resolve) => socket.on("close", () => resolve(sockets.delete(socket)))));
    serveClient(socket, options, stub);
  };
  const server: Server =
    options.tls === undefined
      ? createPlainServer(serve)
      : createTlsServer(options.tls, serve as (socket: Socket) => void);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the stub listens on no port");
  return {
    ...stub,
    port: address.port,
    clientsGone: async () => void (await Promise.all(gone)),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function serveClient(
  socket: Socket,
  options: StubOptions,
  stub: Pick<TyphaStub, "agreements" | "pongs" | "closed">,
): void {
  const streams = options.zstd ? serverStreams({ zstd: (plain) => zstdCompressSync(plain) }) : serverStreams();
  const machine = serverMachine(
    { version: "stub", connectionId: 18_446_744_073_709_551_615n, streams },
    performance.now(),
  );
  let stream: ServerStream | undefined;
  let data: StubData = { snapshot: [], changes: [] };
  const act = (decisions: readonly ServerDecision[]): void => {
    for (const decision of decisions) {
      if (decision.do === "send") socket.write(decision.bytes);
      if (decision.do === "pong") stub.pongs.push(decision.pingTimestamp);
      if (decision.do === "close") {
        stub.closed.push(decision.why.code);
        socket.destroy();
      }
      if (decision.do === "greeted") {
        stub.agreements.push(decision.agreement);
        data = options.data(decision.agreement);
      }
      if (decision.do === "startSnapshot") {
        const { pack } = decision.stream;
        stream = decision.stream;
        const snapshot = data.snapshot.map((update) => ({ ...update, type: updateType.new }));
        const messages = inMessages(snapshot, options.messageKvs ?? 1000).map((pieces) => pack(kvsMessage(pieces)));
        const bytes = Buffer.concat([decision.opening, ...messages, decision.closing]);
        socket.write(bytes, () => act(machine.snapshotWritten(performance.now())));
      }
      if (decision.do === "startStreaming" && stream !== undefined) {
        const { pack } = stream;
        const status = pack(frame({ is: "syncStatus", syncStatus: 2 }));
        const ping = pack(frame({ is: "ping", timestamp: pingTimestamp }));
        const later = inMessages(data.changes, 1).map((pieces) => pack(kvsMessage(pieces)));
        socket.write(Buffer.concat([decision.opening, status, ping, ...later]));
      }
    }
  };
  socket.on("data", (bytes: Buffer) => act(machine.receive(bytes, performance.now())));
  socket.on("end", () => act(machine.end()));
  socket.on("error", () => act(machine.end()));
}

function inMessages(updates: readonly KvUpdate[], most: number): Uint8Array[][] {
  const pieces = updates.map(encodeUpdate);
  const messages: Uint8Array[][] = [];
  for (let at = 0; at < pieces.length; at += most) messages.push(pieces.slice(at, at + most));
  return messages;
}

/** The key/values of a recorded conversation: what came before in-sync, and what came after. */
export function dataOf(events: readonly CapturedEvent[]): StubData {
  const inSyncAt = events.findIndex((event) => event.status === 2);
  const toUpdates = (part: readonly CapturedEvent[]) =>
    part.flatMap(({ kv }) => (kv === undefined ? [] : [toUpdate(kv)]));
  return { snapshot: toUpdates(events.slice(0, inSyncAt)), changes: toUpdates(events.slice(inSyncAt)) };
}

export type CapturedKv = {
  key: string;
  value: string | null;
  revision: string;
  v3rv: string;
  ttl: number;
  type: KvUpdate["type"];
};
export type CapturedEvent = { kv?: CapturedKv; status?: number; restart?: string; hello?: { syncerType: SyncerType } };

function toUpdate(kv: CapturedKv): KvUpdate {
  const { key: path, value, revision, v3rv: v3ResourceVersion, type } = kv;
  return { path, value: value ?? undefined, revision, v3ResourceVersion, type };
}
