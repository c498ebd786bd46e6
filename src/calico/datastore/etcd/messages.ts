// The part of etcd's v3 API that we speak: its messages as types, and how they become bytes and back. Fields that nobody
// asks for are passed over. test/kit/etcd-messages.ts has both ends of the same as a table, for whoever plays etcd.
import { ProtobufError, ProtobufReader, protobuf } from "../../../base/grpc/index.ts";

export type Header = { readonly revision: string };
export type KeyValue = {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly createRevision: string;
  readonly modRevision: string;
};
export type EtcdEvent = {
  readonly type: "PUT" | "DELETE";
  readonly kv: KeyValue;
  /** What the key held before, where the watch asked for it and history still has it. */
  readonly before?: KeyValue | undefined;
};
export type RangeRequest = { key: Buffer; rangeEnd?: Buffer; limit?: number; revision?: string; countOnly?: boolean };
export type RangeResponse = {
  readonly header: Header | null;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
};
export type Compare = {
  target: "VERSION" | "MOD";
  key: Buffer;
  version?: string;
  modRevision?: string;
  result: "EQUAL" | "GREATER";
};
export type RequestOp =
  | { requestRange: RangeRequest }
  | { requestPut: { key: Buffer; value: Buffer } }
  | { requestDeleteRange: { key: Buffer } };
export type TxnRequest = { compare: Compare[]; success: RequestOp[]; failure: RequestOp[] };
export type TxnResponse = {
  readonly header: Header | null;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly responseRange?: RangeResponse }[];
};
export type WatchRequest =
  | {
      createRequest: {
        key: Buffer;
        rangeEnd: Buffer;
        startRevision: string;
        progressNotify: boolean;
        fragment: boolean;
        prevKv?: boolean;
      };
    }
  | { progressRequest: Record<string, never> };
export type WatchResponse = {
  readonly header: Header | null;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: string;
  readonly cancelReason: string;
  readonly fragment: boolean;
  readonly events: readonly EtcdEvent[];
};

/** A remote procedure: where it is, and how its messages become bytes and back. */
export type Method<Request, Response> = {
  readonly path: string;
  readonly encode: (request: Request) => Buffer;
  readonly decode: (bytes: Buffer) => Response;
};

export const methods = {
  range: { path: "/etcdserverpb.KV/Range", encode: encodeRange, decode: whole(readRangeResponse) },
  txn: { path: "/etcdserverpb.KV/Txn", encode: encodeTxn, decode: whole(readTxnResponse) },
  watch: { path: "/etcdserverpb.Watch/Watch", encode: encodeWatch, decode: whole(readWatchResponse) },
  authenticate: {
    path: "/etcdserverpb.Auth/Authenticate",
    encode: ({ name, password }: { name: string; password: string }) =>
      protobuf([
        [1, name],
        [2, password],
      ]),
    decode: whole(readToken),
  },
};

function encodeRange({ key, rangeEnd, limit, revision, countOnly }: RangeRequest): Buffer {
  return protobuf([
    [1, key],
    [2, rangeEnd],
    [3, limit],
    [4, revision === undefined ? undefined : BigInt(revision)],
    [9, countOnly],
  ]);
}

const compareResults = { EQUAL: 0, GREATER: 1 } as const;
const compareTargets = { VERSION: 0, MOD: 2 } as const;

function encodeCompare({ result, target, key, version, modRevision }: Compare): Buffer {
  return protobuf([
    [1, compareResults[result]],
    [2, compareTargets[target]],
    [3, key],
    [4, version === undefined ? undefined : BigInt(version)],
    [6, modRevision === undefined ? undefined : BigInt(modRevision)],
  ]);
}

function encodeOp(op: RequestOp): Buffer {
  if ("requestRange" in op) return protobuf([[1, encodeRange(op.requestRange)]]);
  if ("requestDeleteRange" in op) return protobuf([[3, protobuf([[1, op.requestDeleteRange.key]])]]);
  const { key, value } = op.requestPut;
  const put = protobuf([
    [1, key],
    [2, value],
  ]);
  return protobuf([[2, put]]);
}

function encodeTxn({ compare, success, failure }: TxnRequest): Buffer {
  return protobuf([
    ...compare.map((one) => [1, encodeCompare(one)] as const),
    ...success.map((op) => [2, encodeOp(op)] as const),
    ...failure.map((op) => [3, encodeOp(op)] as const),
  ]);
}

function encodeWatch(request: WatchRequest): Buffer {
  if ("progressRequest" in request) return protobuf([[3, protobuf([])]]);
  const { key, rangeEnd, startRevision, progressNotify, fragment, prevKv } = request.createRequest;
  const create = protobuf([
    [1, key],
    [2, rangeEnd],
    [3, BigInt(startRevision)],
    [4, progressNotify],
    [6, prevKv],
    [8, fragment],
  ]);
  return protobuf([[1, create]]);
}

function whole<T>(read: (reader: ProtobufReader) => T): (bytes: Buffer) => T {
  return (bytes) => read(new ProtobufReader(bytes));
}

function readHeader(reader: ProtobufReader): Header {
  let revision = "0";
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 3) revision = reader.int64();
    else reader.skip();
  }
  return { revision };
}

const nothing: Buffer = Buffer.alloc(0);

function readKeyValue(reader: ProtobufReader): KeyValue {
  let key = nothing;
  let value = nothing;
  let createRevision = "0";
  let modRevision = "0";
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) key = reader.bytes();
    else if (field === 2) createRevision = reader.int64();
    else if (field === 3) modRevision = reader.int64();
    else if (field === 5) value = reader.bytes();
    else reader.skip();
  }
  return { key, value, createRevision, modRevision };
}

function readEvent(reader: ProtobufReader): EtcdEvent {
  let type: EtcdEvent["type"] = "PUT";
  let kv: KeyValue | undefined;
  let before: KeyValue | undefined;
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) type = reader.small() === 1 ? "DELETE" : "PUT";
    else if (field === 2) kv = reader.message(readKeyValue);
    else if (field === 3) before = reader.message(readKeyValue);
    else reader.skip();
  }
  if (kv === undefined) throw new ProtobufError("etcd sent an event without its key");
  return before === undefined ? { type, kv } : { type, kv, before };
}

function readRangeResponse(reader: ProtobufReader): RangeResponse {
  let header: Header | null = null;
  const kvs: KeyValue[] = [];
  let more = false;
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) header = reader.message(readHeader);
    else if (field === 2) kvs.push(reader.message(readKeyValue));
    else if (field === 3) more = reader.bool();
    else reader.skip();
  }
  return { header, kvs, more };
}

function readOpResponse(reader: ProtobufReader): { responseRange?: RangeResponse } {
  let found: { responseRange?: RangeResponse } = {};
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) found = { responseRange: reader.message(readRangeResponse) };
    else reader.skip();
  }
  return found;
}

function readTxnResponse(reader: ProtobufReader): TxnResponse {
  let header: Header | null = null;
  let succeeded = false;
  const responses: { responseRange?: RangeResponse }[] = [];
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) header = reader.message(readHeader);
    else if (field === 2) succeeded = reader.bool();
    else if (field === 3) responses.push(reader.message(readOpResponse));
    else reader.skip();
  }
  return { header, succeeded, responses };
}

function readWatchResponse(reader: ProtobufReader): WatchResponse {
  let header: Header | null = null;
  let created = false;
  let canceled = false;
  let compactRevision = "0";
  let cancelReason = "";
  let fragment = false;
  const events: EtcdEvent[] = [];
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 1) header = reader.message(readHeader);
    else if (field === 3) created = reader.bool();
    else if (field === 4) canceled = reader.bool();
    else if (field === 5) compactRevision = reader.int64();
    else if (field === 6) cancelReason = reader.text();
    else if (field === 7) fragment = reader.bool();
    else if (field === 11) events.push(reader.message(readEvent));
    else reader.skip();
  }
  return { header, created, canceled, compactRevision, cancelReason, fragment, events };
}

function readToken(reader: ProtobufReader): { readonly token: string } {
  let token = "";
  for (let field = reader.field(); field !== 0; field = reader.field()) {
    if (field === 2) token = reader.text();
    else reader.skip();
  }
  return { token };
}
