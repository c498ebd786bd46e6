// One text for each value, the same as test/vectors/make/gob/dump.go writes: what Go and we decoded is compared by it.

import type { GobTime } from "../../src/base/gob/index.ts";
import { basicTypes } from "../../src/base/gob/schema/basics.ts";
import { type Node, resolve } from "../../src/base/gob/schema/schema.ts";

const view = new DataView(new ArrayBuffer(8));

export function dump(node: Node, value: unknown): string {
  const target = resolve(node);
  switch (target.kind) {
    case "bool":
    case "int":
    case "uint":
      return String(value);
    case "float":
      return floatText(value as number);
    case "complex": {
      const { re, im } = value as { re: number; im: number };
      return floatText(re) + floatText(im);
    }
    case "string":
      return `"${value}"`;
    case "bytes":
      return `0x${Buffer.from(value as Uint8Array).toString("hex")}`;
    case "slice":
    case "array":
      return `[${(value as unknown[]).map((elem) => `${dump(target.elem, elem)} `).join("")}]`;
    case "map":
      return mapText(target, value as Map<unknown, unknown>);
    case "struct": {
      const fields = value as Record<string, unknown>;
      return `{${target.fields.map(({ name, node: field }) => `${name}:${dump(field, fields[name])} `).join("")}}`;
    }
    case "interface": {
      if (value === null) return "nil";
      const { type, value: content } = value as { type: string; value: unknown };
      const concrete = target.registry().get(type) ?? basicTypes.get(type);
      if (concrete === undefined) throw new Error(`no type ${type}`);
      return `${type}(${dump(concrete, content)})`;
    }
    case "pointer":
      return value === null ? "nil" : dump(target.to, value);
    case "opaque":
      return opaqueText(value);
    case "raw":
      throw new Error("raw values are never decoded");
  }
}

// Values come from our own decoder under the same schema, so each has the shape its node says.
function opaqueText(value: unknown): string {
  const fields = value as Record<string, string>;
  if (fields.blob !== undefined) return `blob:${fields.blob}`;
  if (fields.packed !== undefined) return `packed:${fields.packed}`;
  const { seconds, nanos, offsetSeconds } = value as GobTime;
  return `time(${seconds}.${String(nanos).padStart(9, "0")} ${offsetSeconds})`;
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return "NaN;";
  view.setFloat64(0, value);
  return `f${view.getBigUint64(0).toString(16)};`;
}

function mapText(node: { key: Node; elem: Node }, value: Map<unknown, unknown>): string {
  const entries = [...value].map(([key, elem]) => ({ key: dump(node.key, key), elem: dump(node.elem, elem) }));
  entries.sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  return `map{${entries.map(({ key, elem }) => `${key}=${elem} `).join("")}}`;
}
