// The library that the program nft is made of, called in this process: no program has to be started for a change of packet rules.
// docs/decisions/0028-nft-in-process.md
import { loadBuiltin } from "../load-builtin.ts";

type Ffi = typeof import("node:ffi");

const definitions = {
  nft_ctx_new: { arguments: ["u32"], return: "pointer" },
  nft_ctx_free: { arguments: ["pointer"], return: "void" },
  nft_ctx_buffer_output: { arguments: ["pointer"], return: "i32" },
  nft_ctx_buffer_error: { arguments: ["pointer"], return: "i32" },
  nft_ctx_get_output_buffer: { arguments: ["pointer"], return: "pointer" },
  nft_ctx_get_error_buffer: { arguments: ["pointer"], return: "pointer" },
  nft_ctx_output_set_flags: { arguments: ["pointer", "u32"], return: "void" },
  nft_run_cmd_from_buffer: { arguments: ["pointer", "string"], return: "i32" },
} as const;

const libraryName = "libnftables.so.1";
/** NFT_CTX_OUTPUT_JSON, and protocols, priorities, names and times as numbers. */
const jsonWithNumbers = 0x10 | 0x3c0;

function open(ffi: Ffi) {
  return ffi.dlopen(libraryName, definitions).functions;
}

type Library = { readonly ffi: Ffi; readonly functions: ReturnType<typeof open> };

let loaded: Library | undefined; // stays loaded as long as the process lives

/** One conversation with the kernel's packet filter. It belongs to the network namespace in which it was begun. */
export type NftContext = Disposable & {
  /** Commands, one a line: taken as one transaction, or refused as one. Undefined: taken; else what is wrong, in the library's words. */
  run(text: string): string | undefined;
  /** What a command that lists something prints. Throws the library's words. */
  list(text: string, as: "text" | "json"): string;
};

/** In the network namespace that this thread is in now. Throws where this machine has no such library, or this Node no node:ffi. */
export function openNftContext(): NftContext {
  loaded ??= load();
  const { ffi, functions: nft } = loaded;
  let context: bigint | undefined = nft.nft_ctx_new(0);
  if (context === 0n) throw new Error(`${libraryName}: no memory for a context`);
  nft.nft_ctx_buffer_output(context);
  nft.nft_ctx_buffer_error(context);
  const alive = (): bigint => {
    if (context === undefined) throw new Error("this nft context is closed");
    return context;
  };
  const run = (text: string, flags: number): string | undefined => {
    // What follows a zero byte would not be read.
    if (text.includes("\0")) throw new Error("a zero byte in a command for nft");
    nft.nft_ctx_output_set_flags(alive(), flags);
    const code = nft.nft_run_cmd_from_buffer(alive(), text);
    const errors = code === 0 ? "" : ffi.toString(nft.nft_ctx_get_error_buffer(alive()));
    return code === 0 ? undefined : (errors ?? "");
  };
  return {
    run: (text) => run(text, 0),
    list: (text, as) => {
      const wrong = run(text, as === "json" ? jsonWithNumbers : 0);
      if (wrong !== undefined) throw new Error(wrong);
      return ffi.toString(nft.nft_ctx_get_output_buffer(alive())) ?? "";
    },
    [Symbol.dispose]: () => {
      if (context !== undefined) nft.nft_ctx_free(context);
      context = undefined;
    },
  };
}

function load(): Library {
  const ffi = loadBuiltin<Ffi>("node:ffi");
  return { ffi, functions: open(ffi) };
}
