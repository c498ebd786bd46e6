// The part of etcd's v3 API that we speak, as data: message fields with their numbers, then the same as types.
// Data and not .proto files, because a packaged program has no files to read. 64-bit numbers travel as decimal text, which
// is dear, so fields that nobody asks for are not named: they are passed over.
import { fromJSON, type MethodDefinition } from "@grpc/proto-loader";

const fields = (table: { [name: string]: [number, string] | [number, string, "repeated"] }) => ({
  fields: Object.fromEntries(
    Object.entries(table).map(([name, [id, type, rule]]) => [
      name,
      rule === undefined ? { id, type } : { id, type, rule },
    ]),
  ),
});
const oneOf = (table: { [name: string]: [number, string] }) => ({
  ...fields(table),
  oneofs: { choice: { oneof: Object.keys(table) } },
});
const rpc = (name: string) => ({ requestType: `${name}Request`, responseType: `${name}Response`, comment: "" });

const header = [1, "ResponseHeader"] as [number, string];
const etcdserverpb = {
  ResponseHeader: fields({ revision: [3, "int64"] }),
  KeyValue: fields({ key: [1, "bytes"], modRevision: [3, "int64"], value: [5, "bytes"] }),
  EventType: { values: { PUT: 0, DELETE: 1 } },
  Event: fields({ type: [1, "EventType"], kv: [2, "KeyValue"] }),
  RangeRequest: fields({
    key: [1, "bytes"],
    rangeEnd: [2, "bytes"],
    limit: [3, "int64"],
    revision: [4, "int64"],
    countOnly: [9, "bool"],
  }),
  RangeResponse: fields({ header, kvs: [2, "KeyValue", "repeated"], more: [3, "bool"] }),
  PutRequest: fields({ key: [1, "bytes"], value: [2, "bytes"] }),
  PutResponse: fields({ header }),
  DeleteRangeRequest: fields({ key: [1, "bytes"] }),
  DeleteRangeResponse: fields({ header, deleted: [2, "int64"] }),
  RequestOp: oneOf({
    requestRange: [1, "RangeRequest"],
    requestPut: [2, "PutRequest"],
    requestDeleteRange: [3, "DeleteRangeRequest"],
  }),
  ResponseOp: oneOf({
    responseRange: [1, "RangeResponse"],
    responsePut: [2, "PutResponse"],
    responseDeleteRange: [3, "DeleteRangeResponse"],
  }),
  CompareResult: { values: { EQUAL: 0, GREATER: 1, LESS: 2, NOT_EQUAL: 3 } },
  CompareTarget: { values: { VERSION: 0, CREATE: 1, MOD: 2 } },
  Compare: {
    ...fields({
      result: [1, "CompareResult"],
      target: [2, "CompareTarget"],
      key: [3, "bytes"],
      version: [4, "int64"],
      modRevision: [6, "int64"],
    }),
    oneofs: { choice: { oneof: ["version", "modRevision"] } },
  },
  TxnRequest: fields({
    compare: [1, "Compare", "repeated"],
    success: [2, "RequestOp", "repeated"],
    failure: [3, "RequestOp", "repeated"],
  }),
  TxnResponse: fields({ header, succeeded: [2, "bool"], responses: [3, "ResponseOp", "repeated"] }),
  WatchCreateRequest: fields({
    key: [1, "bytes"],
    rangeEnd: [2, "bytes"],
    startRevision: [3, "int64"],
    progressNotify: [4, "bool"],
    fragment: [8, "bool"],
  }),
  WatchProgressRequest: fields({}),
  WatchRequest: oneOf({ createRequest: [1, "WatchCreateRequest"], progressRequest: [3, "WatchProgressRequest"] }),
  WatchResponse: fields({
    header,
    created: [3, "bool"],
    canceled: [4, "bool"],
    compactRevision: [5, "int64"],
    cancelReason: [6, "string"],
    fragment: [7, "bool"],
    events: [11, "Event", "repeated"],
  }),
  AuthenticateRequest: fields({ name: [1, "string"], password: [2, "string"] }),
  AuthenticateResponse: fields({ header, token: [2, "string"] }),
  KV: { methods: { Range: rpc("Range"), Txn: rpc("Txn") } },
  Watch: { methods: { Watch: { ...rpc("Watch"), requestStream: true, responseStream: true } } },
  Auth: { methods: { Authenticate: rpc("Authenticate") } },
};

export type Header = { readonly revision: string };
export type KeyValue = { readonly key: Buffer; readonly value: Buffer; readonly modRevision: string };
export type EtcdEvent = { readonly type: "PUT" | "DELETE"; readonly kv: KeyValue };
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

/** Both ends of each service; the other end is for tests that play etcd. */
export const definitions = fromJSON(
  { nested: { etcdserverpb: { nested: etcdserverpb } } },
  { longs: String, enums: String, defaults: true, arrays: true },
);

// The types above are what the tables above describe; only here does the compiler take our word for it.
function method<Request, Response>(service: string, name: string): Method<Request, Response> {
  const found = (definitions[`etcdserverpb.${service}`] as Record<string, MethodDefinition<object, object>>)[name];
  if (found === undefined) throw new Error(`etcd's ${service} has no ${name}`);
  return {
    path: found.path,
    encode: found.requestSerialize as (request: unknown) => Buffer,
    decode: found.responseDeserialize as (bytes: Buffer) => unknown as (bytes: Buffer) => Response,
  };
}

export const methods = {
  range: method<RangeRequest, RangeResponse>("KV", "Range"),
  txn: method<TxnRequest, TxnResponse>("KV", "Txn"),
  watch: method<WatchRequest, WatchResponse>("Watch", "Watch"),
  authenticate: method<{ name: string; password: string }, { readonly token: string }>("Auth", "Authenticate"),
};
