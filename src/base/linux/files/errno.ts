// What the kernel called a failure, as Node carries it.

/** The errno name (`ENOENT`), or undefined where what was thrown has none. */
export function errnoOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}

/** The errno name, or the words where there is no name. */
export function reasonOf(thrown: unknown): string {
  return errnoOf(thrown) ?? (thrown instanceof Error ? thrown.message : String(thrown));
}
