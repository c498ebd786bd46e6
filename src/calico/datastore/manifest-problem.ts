// What is wrong with the files of a datastore that is made of files: shown by the log, the dashboard and the doctor.

export type ManifestProblem = {
  /** Relative to the folder; "" for the folder itself. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly says: string;
  /** The file's last good content is still in use. */
  readonly keepsLastGood: boolean;
};

/** As compilers say it, so that an editor can jump there. */
export function manifestProblemText({ file, line, column, says }: ManifestProblem): string {
  return `${file === "" ? "" : `${file}:${line}:${column}: `}${says}`;
}
