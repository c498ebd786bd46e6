// Writes what is made from WebAssembly's text format into the source.
//   node tools/wasm/build.ts
import { writeFileSync } from "node:fs";
import { blockModule, blockModulePath } from "./block-module.ts";

writeFileSync(blockModulePath, blockModule());
console.log(blockModulePath);
