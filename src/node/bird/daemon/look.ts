// One look at a running BIRD: what it is, whether it still waits for its peers after a restart, and its protocols.
import { CattailError } from "../../../base/lib/index.ts";
import { askBird, type BirdLine } from "../control-socket.ts";
import { type Protocol, readProtocols } from "../protocols.ts";
import { type BirdVersion, versionAnswered } from "./version.ts";

export type Look =
  | { readonly is: "absent"; readonly why: string }
  | {
      readonly is: "running";
      readonly version: BirdVersion;
      /** It was started with -R and holds the kernel's routes until its peers have said theirs, or four minutes are over. */
      readonly isWaiting: boolean;
      readonly protocols: readonly Protocol[];
    };

export async function lookAtBird(socket: string, signal?: AbortSignal): Promise<Look> {
  try {
    const status = await askBird(socket, "show status", { signal });
    const version = versionAnswered(status);
    if (version === undefined) return { is: "absent", why: "it answers, but is no BIRD 1.6 or 2" };
    const read = readProtocols(await askBird(socket, "show protocols", { signal }));
    if (read === undefined) return { is: "absent", why: "its table of protocols has an unknown form" };
    const { protocols } = read;
    return { is: "running", version, isWaiting: isWaiting(status, protocols), protocols };
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof CattailError)) throw error;
    return { is: "absent", why: error.problem };
  }
}

const recoveryCode = 24;

/** BIRD 1.6 also shows it as the state of its kernel protocol. */
function isWaiting(status: readonly BirdLine[], protocols: readonly Protocol[]): boolean {
  return (
    status.some(({ code }) => code === recoveryCode) ||
    protocols.some(({ kind, state }) => kind === "Kernel" && state === "wait")
  );
}
