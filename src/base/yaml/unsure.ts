// How the quick reader says that somebody else has to read the text.

/** Thrown where the whole language has to be asked. */
export const unsure = new Error("not sure");

/** What a scalar without quotes means. Throws `unsure` where the whole language has to be asked. */
export type ReadScalar = (text: string) => unknown;
