// In the single executable: a worker thread's program comes out of the executable and is handed over as a data: URL,
// because a thread can only be given files or URLs, and there are no files.
import { getRawAsset } from "node:sea";

export function workerEntry(): URL {
  const source = Buffer.from(getRawAsset("worker.js")).toString("base64");
  return new URL(`data:text/javascript;base64,${source}`);
}
