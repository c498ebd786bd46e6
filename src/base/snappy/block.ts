// Opens single blocks, by WebAssembly of our own (block.wat): at full speed from the first chunk on, and into memory that
// is used again. The native codec takes twice the time, and makes a buffer for each chunk that the garbage collector has to
// find (bench/client). Where there is no WebAssembly, or no memory for it, the native codec does it.
import { uncompressSync } from "snappy";
import { blockWasm } from "./block-wasm.ts";
import { codecOptions, maxBodyBytes, maxContentBytes } from "./format.ts";

/**
 * The plain bytes of a block, which the caller knows to claim `contentBytes`, in memory that the next block is written
 * to; undefined where the block is no good. `headerBytes` is where its elements begin.
 */
export type OpenBlock = (block: Uint8Array, headerBytes: number, contentBytes: number) => Uint8Array | undefined;

/** The part of WebAssembly that is used here, of which TypeScript knows only with the browser's types. */
type Engine = {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};
type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer };
  decode(blockStart: number, blockEnd: number, plainStart: number, plainEnd: number): number;
};

/** Behind the block and behind its content the decoder reads and writes up to 16 bytes too many. */
const contentAt = (maxBodyBytes + 16 + 63) & ~63;

/** Each has memory of its own, 192 KiB. */
export function blockOpener(): OpenBlock {
  return wasmOpener() ?? openNatively;
}

export function wasmOpener(): OpenBlock | undefined {
  const exports = instantiate();
  if (exports === undefined) return undefined;
  const memory = new Uint8Array(exports.memory.buffer);
  return (block, headerBytes, contentBytes) => {
    if (block.length > maxBodyBytes || contentBytes > maxContentBytes) return undefined;
    memory.set(block);
    const end = contentAt + contentBytes;
    return exports.decode(headerBytes, block.length, contentAt, end) === 1
      ? memory.subarray(contentAt, end)
      : undefined;
  };
}

export function openNatively(block: Uint8Array): Uint8Array | undefined {
  try {
    // `as`: the codec answers a string only where it is asked for one.
    return uncompressSync(block, codecOptions) as Uint8Array;
  } catch {
    return undefined; // it says no more than that the block is bad
  }
}

const compiled = compile();

function compile(): { readonly engine: Engine; readonly module: object } | undefined {
  const { WebAssembly: engine } = globalThis as { readonly WebAssembly?: Engine }; // missing where V8 runs without a compiler
  if (engine === undefined) return undefined;
  try {
    return { engine, module: new engine.Module(Uint8Array.from(atob(blockWasm), (each) => each.charCodeAt(0))) };
  } catch {
    return undefined; // an old engine, or a page's policy: the native codec is there
  }
}

function instantiate(): Exports | undefined {
  if (compiled === undefined) return undefined;
  try {
    return new compiled.engine.Instance(compiled.module).exports as Exports; // what block.wat exports
  } catch {
    return undefined; // no memory: engines reserve far more addresses than they use
  }
}
