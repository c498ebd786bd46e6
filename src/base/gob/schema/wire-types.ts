// Type definitions as they arrive, and the few that every decoder knows from the start.
// A definition is itself a gob value: of the struct wireType, id 16, whose own definition is below.

import type { ValueOf } from "./schema.ts";
import { int, pointer, slice, string, struct } from "./schema-make.ts";

const id = () => int({ bits: 32 });
const Common = struct("CommonType", { Name: string(), Id: id() });
const Field = struct("fieldType", { Name: string(), Id: id() });
const External = struct("gobEncoderType", { CommonType: Common });

export const WireTypeSchema = struct("wireType", {
  ArrayT: pointer(struct("arrayType", { CommonType: Common, Elem: id(), Len: int({ as: "bigint" }) })),
  SliceT: pointer(struct("sliceType", { CommonType: Common, Elem: id() })),
  StructT: pointer(struct("structType", { CommonType: Common, Field: slice(Field) })),
  MapT: pointer(struct("mapType", { CommonType: Common, Key: id(), Elem: id() })),
  GobEncoderT: pointer(External),
  BinaryMarshalerT: pointer(External),
  TextMarshalerT: pointer(External),
});

/** One definition. Go lets several of the members be there at once; which one counts depends on who asks. */
export type WireType = ValueOf<typeof WireTypeSchema>;

export const typeId = { bool: 1, int: 2, uint: 3, float: 4, bytes: 5, string: 6, complex: 7, interface: 8 } as const;
export const wireTypeId = 16;
/** The lowest id a definition may have. */
export const firstUserId = 64;

const none = {
  ArrayT: null,
  SliceT: null,
  StructT: null,
  MapT: null,
  GobEncoderT: null,
  BinaryMarshalerT: null,
  TextMarshalerT: null,
};

/** Gob's own structs and its one slice. Streams never define them, but may hold values of them. */
export const builtinTypes: ReadonlyMap<number, WireType> = new Map([
  [
    16,
    builtinStruct(16, "wireType", {
      ArrayT: 17,
      SliceT: 19,
      StructT: 20,
      MapT: 23,
      GobEncoderT: 24,
      BinaryMarshalerT: 24,
      TextMarshalerT: 24,
    }),
  ],
  [17, builtinStruct(17, "arrayType", { CommonType: 18, Elem: 2, Len: 2 })],
  [18, builtinStruct(18, "CommonType", { Name: 6, Id: 2 })],
  [19, builtinStruct(19, "sliceType", { CommonType: 18, Elem: 2 })],
  [20, builtinStruct(20, "structType", { CommonType: 18, Field: 22 })],
  [21, builtinStruct(21, "fieldType", { Name: 6, Id: 2 })],
  [22, { ...none, SliceT: { CommonType: { Name: "", Id: 22 }, Elem: 21 } }],
  [23, builtinStruct(23, "mapType", { CommonType: 18, Key: 2, Elem: 2 })],
  [24, builtinStruct(24, "gobEncoderType", { CommonType: 18 })],
]);

function builtinStruct(number: number, name: string, fields: Record<string, number>): WireType {
  const list = Object.entries(fields).map(([Name, Id]) => ({ Name, Id }));
  return { ...none, StructT: { CommonType: { Name: name, Id: number }, Field: list } };
}
