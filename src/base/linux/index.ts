// What any program on Linux needs of files. Nothing here loads node:ffi, and nothing in this room knows a word of Calico.
export { type AcquireOptions, FileLock, type HeldFileLock } from "./files/file-lock.ts";
export {
  isTemporaryName,
  type ReplaceFileOptions,
  removeFile,
  replaceFile,
  sweepTemporaryFiles,
  syncFolder,
} from "./files/replace-file.ts";
export { type FolderNotice, type WatchFolderOptions, watchFolder } from "./files/watch-folder.ts";
