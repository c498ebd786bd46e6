// Why a file cannot be used, in the words that the original's library has for it.
const words: { readonly [code: string]: string } = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EISDIR: "is a directory",
  ENOTDIR: "not a directory",
  ELOOP: "too many levels of symbolic links",
  ENAMETOOLONG: "file name too long",
  EMFILE: "too many open files",
  EIO: "input/output error",
  ECONNREFUSED: "connection refused",
};

export function goWords(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return words[code] ?? (error instanceof Error ? error.message : String(error));
}
