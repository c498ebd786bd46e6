// The source file that carries src/base/snappy/block.wat as WebAssembly. block-module.test.ts fails when it is not fresh.
import { readFileSync } from "node:fs";
import { assemble } from "./assemble.ts";

export const blockModulePath = "src/base/snappy/block-wasm.ts";

export function blockModule(): string {
  const base64 = Buffer.from(assemble(readFileSync("src/base/snappy/block.wat", "utf8"))).toString("base64");
  const lines = base64.match(/.{1,100}/g) ?? [];
  return [
    "// Made from block.wat by `node tools/wasm/build.ts`; a test compares the two. Do not edit.",
    "",
    "/** A WebAssembly module, in base64. */",
    "export const blockWasm = [",
    ...lines.map((line) => `  "${line}",`),
    '].join("");',
    "",
  ].join("\n");
}
