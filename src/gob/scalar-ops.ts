// The closures that read values without parts. They depend on the schema alone, not on the stream.
import type { Reader } from "./reader.ts";
import type { base, OpaqueNode } from "./schema.ts";

export type ReadOp = (r: Reader) => unknown;

export function scalarOp(node: ReturnType<typeof base>): ReadOp | undefined {
  switch (node.kind) {
    case "bool":
      return (r) => r.uint() !== 0;
    case "int":
      return node.as === "bigint" ? bigIntOp(node.bits) : intOp(node.bits);
    case "uint":
      return node.as === "bigint" ? bigUintOp(node.bits) : uintOp(node.bits);
    case "float":
      return node.bits === 64 ? (r) => r.float() : float32;
    case "complex": {
      const part = node.bits === 64 ? (r: Reader) => r.float() : float32;
      return (r) => ({ re: part(r), im: part(r) });
    }
    case "string":
      return (r) => r.string();
    case "bytes":
      return node.isText ? (r) => r.string() : (r) => r.bytes();
    case "opaque":
      return opaqueOp(node);
    default:
      return undefined;
  }
}

function intOp(bits: number): ReadOp {
  const top = 2 ** (bits - 1);
  return (r) => {
    const value = r.int();
    if (value >= -top && value < top) return value;
    return r.fail(bits === 64 ? "GOB_UNSAFE_INTEGER" : "GOB_OUT_OF_RANGE", `an integer does not fit int${bits}`);
  };
}

function uintOp(bits: number): ReadOp {
  const top = Math.min(2 ** bits, 2 ** 53);
  return (r) => {
    const value = r.uint();
    if (value < top) return value;
    return r.fail(bits === 64 ? "GOB_UNSAFE_INTEGER" : "GOB_OUT_OF_RANGE", `an integer does not fit uint${bits}`);
  };
}

function bigIntOp(bits: number): ReadOp {
  return (r) => {
    const value = r.bigInt();
    return BigInt.asIntN(bits, value) === value
      ? value
      : r.fail("GOB_OUT_OF_RANGE", `${value} does not fit int${bits}`);
  };
}

function bigUintOp(bits: number): ReadOp {
  return (r) => {
    const value = r.bigUint();
    return BigInt.asUintN(bits, value) === value
      ? value
      : r.fail("GOB_OUT_OF_RANGE", `${value} does not fit uint${bits}`);
  };
}

const maxFloat32 = (2 - 2 ** -23) * 2 ** 127;

function float32(r: Reader): number {
  const value = r.float();
  // Infinity is fine in both widths; what lies between the largest of each is not.
  if (Math.abs(value) > maxFloat32 && Number.isFinite(value))
    r.fail("GOB_OUT_OF_RANGE", `${value} does not fit float32`);
  return Math.fround(value);
}

function opaqueOp(node: OpaqueNode): ReadOp {
  return (r) => {
    const bytes = r.view();
    try {
      return node.decode(bytes);
    } catch (error) {
      return r.fail("GOB_OPAQUE", `${node.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
}
