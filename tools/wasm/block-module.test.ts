// The WebAssembly in the source is what its text says, and the assembler lets nothing pass that it does not know.
import { equal, ok, throws } from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { assemble } from "./assemble.ts";
import { blockModule, blockModulePath } from "./block-module.ts";

const source = readFileSync("src/base/snappy/block.wat", "utf8");

test("the module in the source is as its text would make it", () => {
  equal(readFileSync(blockModulePath, "utf8"), blockModule(), "run `node tools/wasm/build.ts`");
});

test("the engine finds nothing wrong with it", () => {
  // The types of WebAssembly come with the browser's only.
  const { WebAssembly: engine } = globalThis as unknown as { WebAssembly: { validate(bytes: Uint8Array): boolean } };
  ok(engine.validate(assemble(source)));
});

const refused: { name: string; text: string; says: RegExp }[] = [
  { name: "an instruction it does not know", text: source.replace("i32.shl", "i32.rotl"), says: /i32\.rotl/ },
  { name: "a type it does not know", text: source.replace("$tag i32", "$tag i64"), says: /i64/ },
  { name: "a local that nobody declared", text: source.replace("local.get $in)", "local.get $no)"), says: /\$no/ },
  { name: "a label that nobody set", text: source.replace("(br $element)", "(br $no)"), says: /\$no/ },
  { name: "an end that does not come", text: source.trimEnd().slice(0, -1), says: /unexpected end/ },
  { name: "more than one module", text: `${source}(module)`, says: /unexpected/ },
];
for (const { name, text, says } of refused) test(`refuses ${name}`, () => throws(() => assemble(text), says));
