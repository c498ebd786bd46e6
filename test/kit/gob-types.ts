// The Go types of test/vectors/make/gob/types.go as schemas, in the same order: the order is the protocol between them.
import {
  array,
  bool,
  bytes,
  complex,
  float,
  int,
  interface_,
  lazy,
  map,
  opaque,
  pointer,
  type Schema,
  slice,
  string,
  struct,
  time,
  uint,
} from "../../src/base/gob/index.ts";

export type Blob = { blob: string };
export type Packed = { packed: string };
type List = { Value: bigint; Next: List | null };
type Tree = { Name: string; Children: Tree[] };
type Graph = { Name: string; Edges: Map<string, Graph | null>; Twin: Graph | null };
type Nested = Nested[];
type NestedMap = Map<string, NestedMap>;
/** Interfaces here hold types that hold interfaces; spelling that out would be endless. */
type Anything = { type: string; value: unknown } | null;

const i64 = () => int({ as: "bigint" });
const u64 = () => uint({ as: "bigint" });
const hex = (data: Uint8Array): string => Buffer.from(data).toString("hex");
const unhex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "hex"));

const any: Schema<Anything> = interface_((): Record<string, Schema<unknown>> => registered);

const blob = opaque<Blob>("Blob", {
  form: "gob",
  encode: ({ blob }) => unhex(blob),
  decode: (data) => {
    if (data[0] === 0xff) throw new Error("ff");
    return { blob: hex(data) };
  },
  zero: () => ({ blob: "" }),
  isZero: ({ blob }) => blob === "",
});
const packed = opaque<Packed>("Packed", {
  form: "binary",
  encode: ({ packed }) => unhex(packed),
  decode: (data) => ({ packed: hex(data) }),
  zero: () => ({ packed: "" }),
  isZero: ({ packed }) => packed === "",
});

const Point = struct("Point", { X: i64(), Y: i64() });
const PointMore = struct("PointMore", {
  Name: string(),
  Y: i64(),
  X: i64(),
  Tags: map(string(), slice(string())),
  Any: any,
  At: time(),
});
const Scalars = struct("Scalars", {
  Bool: bool(),
  I: i64(),
  I8: int({ bits: 8 }),
  I16: int({ bits: 16 }),
  I32: int({ bits: 32 }),
  I64: i64(),
  U: u64(),
  U8: uint({ bits: 8 }),
  U16: uint({ bits: 16 }),
  U32: uint({ bits: 32 }),
  U64: u64(),
  Ptr: u64(),
  F32: float({ bits: 32 }),
  F64: float(),
  C64: complex({ bits: 32 }),
  C128: complex(),
  S: string(),
  B: bytes(),
});
const Letters = struct("Letters", {
  A: i64(),
  B: string(),
  C: slice(string()),
  D: map(string(), i64()),
  E: Point,
  F: slice(Point),
  G: any,
  H: array(u64(), 3),
  I: pointer(Point),
  J: pointer(i64()),
});
const LettersToo = struct("LettersToo", {
  A: uint({ bits: 8 }),
  B: bytes(),
  C: array(int({ bits: 8 }), 2),
  D: map(i64(), string()),
  E: pointer(Letters),
  F: map(string(), Point),
  G: bool(),
  H: float({ bits: 32 }),
  I: slice(any),
  J: time(),
});
const Outer = struct("Outer", {
  P: Point,
  PP: pointer(Point),
  S: slice(Point),
  SP: slice(pointer(Point)),
  M: map(string(), Point),
  MP: map(string(), pointer(Point)),
  A: array(Point, 2),
  N: slice(slice(i64())),
});
const List: Schema<List> = struct("List", { Value: i64(), Next: pointer(lazy<List>(() => List)) });
const Tree: Schema<Tree> = struct("Tree", { Name: string(), Children: slice(lazy<Tree>(() => Tree)) });
const Graph: Schema<Graph> = struct("Graph", {
  Name: string(),
  Edges: map(string(), pointer(lazy<Graph>(() => Graph))),
  Twin: pointer(lazy<Graph>(() => Graph)),
});
const Nested: Schema<Nested> = slice(
  lazy<Nested>(() => Nested),
  { name: "Nested" },
);
const NestedMap: Schema<NestedMap> = map(
  string(),
  lazy<NestedMap>(() => NestedMap),
  { name: "NestedMap" },
);
const Empty = struct("Empty", {});
const Holder = struct("Holder", { V: any });
const Holders = struct("Holders", { Name: string(), V: slice(any), M: map(string(), any), Last: any });
const Event = struct("Event", { Name: string(), At: time(), Old: pointer(time()), All: slice(time()) });
const Opaques = struct("Opaques", {
  B: blob,
  P: packed,
  BP: pointer(blob),
  L: slice(blob),
  M: map(string(), packed),
  T: time(),
});
const PairKey = struct("PairKey", { Name: string(), N: i64() });
const Maps = struct("Maps", {
  SI: map(string(), i64()),
  IS: map(i64(), string()),
  BU: map(bool(), uint({ bits: 8 })),
  KS: map(PairKey, string()),
  AB: map(array(int({ bits: 8 }), 2), bool()),
  MM: map(string(), map(string(), i64())),
  PM: pointer(map(string(), i64())),
});
const Hello = struct("Hello", {
  Hostname: string(),
  SyncerType: string(),
  Restart: bool(),
  Compressions: slice(string()),
  ConnID: u64(),
});
const Update = struct("Update", {
  Key: string(),
  Value: bytes(),
  Revision: any,
  ResourceVersion: string(),
  TTL: i64(),
  Type: uint({ bits: 8 }),
});
const Updates = struct("Updates", { KVs: slice(Update) });
const Envelope = struct("Envelope", { Message: any });

const typha = "github.com/projectcalico/typha/pkg/syncproto.";
const SerializedUpdate = struct("SerializedUpdate", {
  Key: string(),
  Value: bytes(),
  Revision: any,
  V3ResourceVersion: string(),
  TTL: i64(),
  UpdateType: uint({ bits: 8 }),
});

const registered: Record<string, Schema<unknown>> = {
  "example.com/msg.Hello": Hello,
  "example.com/msg.Ack": struct("Ack", {}),
  "example.com/msg.Status": struct("Status", { Status: uint({ bits: 8 }) }),
  "example.com/msg.Ping": struct("Ping", { Timestamp: time() }),
  "example.com/msg.Updates": Updates,
  Point,
  Letters,
  Holder,
  Blob: blob,
  Packed: packed,
  "time.Time": time(),
  Tree,
  strings: map(string(), string()),
  anys: slice(any),
  [`${typha}MsgClientHello`]: struct("MsgClientHello", {
    Hostname: string(),
    Info: string(),
    Version: string(),
    SyncerType: string(),
    SupportsDecoderRestart: bool(),
    SupportedCompressionAlgorithms: slice(string()),
    SupportsModernPolicyKeys: bool(),
    ClientConnID: u64(),
  }),
  [`${typha}MsgServerHello`]: struct("MsgServerHello", {
    Version: string(),
    SyncerType: string(),
    SupportsNodeResourceUpdates: bool(),
    ServerConnID: u64(),
  }),
  [`${typha}MsgDecoderRestart`]: struct("MsgDecoderRestart", { Message: string(), CompressionAlgorithm: string() }),
  [`${typha}MsgACK`]: struct("MsgACK", {}),
  [`${typha}MsgSyncStatus`]: struct("MsgSyncStatus", { SyncStatus: uint({ bits: 8 }) }),
  [`${typha}MsgPing`]: struct("MsgPing", { Timestamp: time() }),
  [`${typha}MsgPong`]: struct("MsgPong", { PingTimestamp: time(), PongTimestamp: time() }),
  [`${typha}MsgKVs`]: struct("MsgKVs", { KVs: slice(SerializedUpdate) }),
};

export const gobTypes: ReadonlyMap<string, Schema<unknown>> = new Map<string, Schema<unknown>>([
  ["bool", bool()],
  ["int", i64()],
  ["int8", int({ bits: 8 })],
  ["int16", int({ bits: 16 })],
  ["int32", int({ bits: 32 })],
  ["int64", i64()],
  ["uint", u64()],
  ["uint8", uint({ bits: 8 })],
  ["uint16", uint({ bits: 16 })],
  ["uint32", uint({ bits: 32 })],
  ["uint64", u64()],
  ["float32", float({ bits: 32 })],
  ["float64", float()],
  ["complex64", complex({ bits: 32 })],
  ["complex128", complex()],
  ["string", string()],
  ["bytes", bytes()],
  ["[]int", slice(i64())],
  ["[]string", slice(string())],
  ["[]bool", slice(bool())],
  ["[]float64", slice(float())],
  ["[][]byte", slice(bytes())],
  ["[3]int", array(i64(), 3)],
  ["[2][2]uint8", array(array(uint({ bits: 8 }), 2), 2)],
  ["[]any", slice(any)],
  ["map[string]int", map(string(), i64())],
  ["map[int]string", map(i64(), string())],
  ["map[string][]string", map(string(), slice(string()))],
  ["map[string]Point", map(string(), Point)],
  ["map[PairKey]string", map(PairKey, string())],
  ["map[string]any", map(string(), any)],
  ["Point", Point],
  ["PointMore", PointMore],
  ["Scalars", Scalars],
  ["Letters", Letters],
  ["LettersToo", LettersToo],
  ["Outer", Outer],
  ["List", List],
  ["Tree", Tree],
  ["Graph", Graph],
  ["Nested", Nested],
  ["NestedMap", NestedMap],
  ["Empty", Empty],
  ["Holder", Holder],
  ["Holders", Holders],
  ["Event", Event],
  ["Opaques", Opaques],
  ["Maps", Maps],
  ["Envelope", Envelope],
  ["Updates", Updates],
  ["time.Time", time()],
  ["Blob", blob],
  ["Packed", packed],
  ["*Point", pointer(Point)],
  ["[]Point", slice(Point)],
  ["[]time.Time", slice(time())],
  ["[]complex128", slice(complex())],
  ["[2]string", array(string(), 2)],
  ["map[any]int", map(any, i64())],
  ["any", any],
]);
