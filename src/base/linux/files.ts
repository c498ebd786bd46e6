// A third door, for rooms that are loaded by every program and need files alone: no program is run, nobody is called.
export { tryFlock, tryPassingFlock, waitForFlock } from "./ffi/flock.ts";
export { errnoOf } from "./files/errno.ts";
export { type AcquireOptions, FileLock, type HeldFileLock } from "./files/file-lock.ts";
export { Bell, FolderWatches, type Pause, type SeenFolder } from "./files/folder-watches.ts";
export { makeFolders, makeFoldersSync } from "./files/make-folders.ts";
export {
  isTemporaryName,
  type ReplaceFileOptions,
  removeFile,
  replaceFile,
  sweepTemporaryFiles,
  syncFolder,
} from "./files/replace-file.ts";
export { type FolderNotice, type WatchFolderOptions, watchFolder } from "./files/watch-folder.ts";
export { whoMayReplace } from "./files/who-may-replace.ts";
