// A program that stops following in one of several ways and then has nothing more to do. If it does not end by itself,
// something was left behind: client-life.test.ts starts it and waits.

import { silentLog } from "../../src/base/lib/index.ts";
import { follow } from "../../src/typha/client/index.ts";

const [how = "", servers = ""] = process.argv.slice(2);
process.on("unhandledRejection", (error) => {
  console.error("unhandled", error);
  process.exit(3);
});
const stop = new AbortController();
// Aborted where the way of leaving says so, by what the client reports of itself.
const on = (moment: string) => () => {
  if (how === moment) setImmediate(() => stop.abort());
};
const log = { ...silentLog, info: on("abort once connected"), warn: on("abort in the pause after a failure") };
try {
  if (how === "abort while the server is silent") setTimeout(() => stop.abort(), 50);
  if (how === "abort before the start") stop.abort();
  const maxFailures = how === "give up" ? 2 : 1000;
  for await (const update of follow({ servers, signal: stop.signal, log, maxFailures })) {
    if (how === "break at the first word") break;
    if (how === "abort at the first word") stop.abort();
    if (update.is === "status" && update.status === 2) {
      if (how === "break in sync") break;
      if (how === "throw") throw new Error("the consumer's own");
      if (how === "abort in sync") stop.abort();
    }
  }
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
}
console.log("left");
