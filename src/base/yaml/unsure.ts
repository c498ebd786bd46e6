// How the quick reader says that somebody else has to read the text; and the reader of scalars that leaves most to others.

/** Thrown where the whole language has to be asked. */
export const unsure = new Error("not sure");

/** What a scalar without quotes means. Throws `unsure` where the whole language has to be asked. */
export type ReadScalar = (text: string) => unknown;

/** Words, truth values and nothing, which all versions of YAML agree on. A number may be a password, of many digits. */
export const readWord: ReadScalar = (text) => {
  if (text === "true" || text === "false") return text === "true";
  if (text === "" || text === "null" || text === "~") return null;
  if (/^(?:[-+.\d]|(?:true|false|null)$)/i.test(text)) throw unsure;
  return text;
};
