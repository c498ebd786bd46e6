// What any program on Linux needs of files, other programs and unix sockets. Nothing here loads node:ffi by itself (kernel.ts is the other
// door), and nothing in this room knows a word of Calico.

export { type AnswerCallsOptions, answerCalls } from "./calls/answer-calls.ts";
export { type CallOptions, callProgram } from "./calls/call.ts";
export type { CallRequest } from "./calls/envelope.ts";
export * from "./files.ts";
export { type ProgramResult, type RunProgramOptions, runProgram } from "./programs/run-program.ts";
