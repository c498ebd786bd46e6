// The ops of values without parts. They depend on the schema alone, not on the stream.

import type { base, IntBits, OpaqueNode } from "../schema/schema.ts";
import { newOp, type Op, opCode } from "./read-ops.ts";
import type { Reader } from "./reader.ts";

export function scalarOp(node: ReturnType<typeof base>): Op | undefined {
  switch (node.kind) {
    case "bool":
      return newOp(opCode.bool);
    case "string":
      return newOp(opCode.text);
    case "int":
      return intOp(node.bits, node.as === "bigint");
    case "uint":
      return uintOp(node.bits, node.as === "bigint");
    case "float":
      return newOp(opCode.other, { read: node.bits === 64 ? float64 : float32 });
    case "complex":
      return newOp(opCode.other, { read: node.bits === 64 ? complexOf(float64) : complexOf(float32) });
    case "bytes":
      return node.isText ? newOp(opCode.text) : newOp(opCode.other, { read: (r) => r.bytes() });
    case "opaque":
      return newOp(opCode.other, { read: opaqueReader(node) });
    default:
      return undefined;
  }
}

function intOp(bits: IntBits, isBig: boolean): Op {
  return isBig ? newOp(opCode.bigInt, { bits }) : newOp(opCode.int, { bits, top: 2 ** (bits - 1) });
}

function uintOp(bits: IntBits, isBig: boolean): Op {
  return isBig ? newOp(opCode.bigUint, { bits }) : newOp(opCode.uint, { bits, top: Math.min(2 ** bits, 2 ** 53) });
}

function complexOf(part: (r: Reader) => number): Op["read"] {
  return (r) => ({ re: part(r), im: part(r) });
}

function float64(r: Reader): number {
  return r.float();
}

const maxFloat32 = (2 - 2 ** -23) * 2 ** 127;

function float32(r: Reader): number {
  const value = r.float();
  // Infinity is fine in both widths; what lies between the largest of each is not.
  if (Math.abs(value) > maxFloat32 && Number.isFinite(value))
    r.fail("GOB_OUT_OF_RANGE", `${value} does not fit float32`);
  return Math.fround(value);
}

function opaqueReader(node: OpaqueNode): Op["read"] {
  return (r) => {
    const bytes = r.view();
    try {
      return node.decode(bytes);
    } catch (error) {
      return r.fail("GOB_OPAQUE", `${node.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
}
