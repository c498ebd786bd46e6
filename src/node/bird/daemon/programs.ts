// BIRD's programs on this machine: which version they are, and whether they would take a configuration.
import { CattailError } from "../../../base/lib/index.ts";
import { runProgram } from "../../../base/linux/index.ts";
import { type BirdVersion, versionPrinted } from "./version.ts";

/** Undefined: there is no such program, or it is no BIRD. */
export async function versionOfProgram(program: string, signal?: AbortSignal): Promise<BirdVersion | undefined> {
  try {
    const { stdout, stderr } = await runProgram(program, ["--version"], { signal, limitMs: 10_000 });
    return versionPrinted(`${stdout}\n${stderr}`);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof CattailError) return undefined;
    throw error;
  }
}

export type Checked = { readonly is: "good" } | { readonly is: "refused"; readonly says: string };

/** Parsed only: nothing is started, and no socket is opened. */
export async function checkWithProgram(program: string, file: string, signal?: AbortSignal): Promise<Checked> {
  const { code, stdout, stderr } = await runProgram(program, ["-p", "-c", file], {
    signal,
    limitMs: 30_000,
    alsoGood: [1],
  });
  if (code === 0) return { is: "good" };
  const words = `${stderr}\n${stdout}`.trim().split("\n").slice(-3).join(" ");
  return { is: "refused", says: words.replaceAll(file, "the configuration") };
}
