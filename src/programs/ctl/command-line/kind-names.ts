// The kinds that a command takes, for help and completion.
import { kindInfo, namedKinds } from "../../../calico/kinds/index.ts";
import type { CtlCommand } from "../command.ts";

export function takesKind({ wordsUsage = "" }: CtlCommand): boolean {
  return /^\[?KIND\b/.test(wordsUsage);
}

/** As a list is asked for. The singular `node` is also a command, and what follows a command is another matter. */
export function kindPlurals(): string[] {
  return namedKinds.flatMap((kind) => kindInfo(kind).names?.slice(1, 2) ?? []);
}
