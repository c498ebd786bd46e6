// What any program on Linux needs of files, other programs and unix sockets. Nothing here loads node:ffi by itself (kernel.ts is the other
// door), and nothing in this room knows a word of Calico.

export { type AnswerCallsOptions, answerCalls } from "./calls/answer-calls.ts";
export { type CallOptions, callProgram } from "./calls/call.ts";
export type { CallRequest } from "./calls/envelope.ts";
export { errnoOf } from "./files/errno.ts";
export { type AcquireOptions, FileLock, type HeldFileLock } from "./files/file-lock.ts";
export { makeFolders } from "./files/make-folders.ts";
export {
  isTemporaryName,
  type ReplaceFileOptions,
  removeFile,
  replaceFile,
  sweepTemporaryFiles,
  syncFolder,
} from "./files/replace-file.ts";
export { type FolderNotice, type WatchFolderOptions, watchFolder } from "./files/watch-folder.ts";
export { type ProgramResult, type RunProgramOptions, runProgram } from "./programs/run-program.ts";
