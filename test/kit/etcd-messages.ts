// etcd's v3 API as a table of message fields with their numbers, for gRPC's own library: both ends of each service, for
// tests that play etcd, and to check our own reading and writing against somebody else's.
import { fromJSON } from "@grpc/proto-loader";

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
  KeyValue: fields({ key: [1, "bytes"], createRevision: [2, "int64"], modRevision: [3, "int64"], value: [5, "bytes"] }),
  EventType: { values: { PUT: 0, DELETE: 1 } },
  Event: fields({ type: [1, "EventType"], kv: [2, "KeyValue"], prevKv: [3, "KeyValue"] }),
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
    prevKv: [6, "bool"],
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

export const etcdServices = fromJSON(
  { nested: { etcdserverpb: { nested: etcdserverpb } } },
  { longs: String, enums: String, defaults: true, arrays: true },
);
