// Where a worker thread's program is: the file beside this one. The single executable has no files; it is built with
// tools/binary/worker-entry.ts in place of this module.
export function workerEntry(): URL {
  return new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);
}
