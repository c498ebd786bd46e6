// Verbs whose objects come from -f alone.
import type { Invocation } from "../../command.ts";
import { CtlError } from "../../console.ts";

/** The original dies without a file, and with words beside it writes an empty object of that kind. */
export function requireFilename(verb: string, { value, words }: Invocation): void {
  if (value("filename") !== undefined) return;
  const given = words.length === 0 ? "" : `; it takes no words such as "${words.join(" ")}"`;
  throw new CtlError(`${verb} needs --filename (-f) with a file, a folder, or - for standard input${given}`);
}
