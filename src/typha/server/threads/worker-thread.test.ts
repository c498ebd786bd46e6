// The main thread's end of a worker, with workers that do only what the test needs.
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../../test/kit/eventually.ts";
import { FakeClock } from "../../../../test/kit/fake-clock.ts";
import { defaultLimits } from "../../../../test/kit/fanout-limits.ts";
import { recordLog } from "../../../../test/kit/recorded-log.ts";
import { syncStatus } from "../../../calico/model/basics.ts";
import { noMetrics, sessionEnds } from "../../fanout/index.ts";
import { WorkerThread } from "./worker-thread.ts";

/**
 * `onMessage` is the body of a function of one message from the main thread, on the worker; `canListen` an expression that
 * says there whether it can.
 */
async function startWorker(onMessage: string, canListen = "true") {
  const clock = new FakeClock();
  const { log, lines } = recordLog();
  const program = `
    import { parentPort, workerData } from "node:worker_threads";
    const say = (message) => parentPort.postMessage([{ is: "log", level: "info", message }]);
    parentPort.on("message", (messages) => {
      for (const message of messages) {
        if (message.is === "stop") process.exit(0);
        ${onMessage}
      }
    });
    const cannotListen = { is: "cannotListen", code: "LISTEN_FAILED", problem: "somebody else has it", next: "" };
    parentPort.postMessage([${canListen} ? { is: "listening", port: 1 } : cannotListen]);
    say("here");`;
  const thread = new WorkerThread({
    setup: {
      number: 1,
      listen: { host: "", port: 0 },
      tls: undefined,
      isFresh: true,
      limits: defaultLimits,
      preference: [],
      version: "test",
      leastLogged: "info",
    },
    publishers: new Map(),
    answerNeighbour: async () => "",
    metrics: noMetrics,
    log,
    clock,
    refusals: { report: () => undefined },
    entry: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
  });
  const said = () => lines.map(({ message }) => message);
  await thread.start();
  await eventually(() => said().includes("here"), "its last word until it is asked");
  return { thread, clock, said, [Symbol.asyncDispose]: () => thread.stop() };
}

function flushTo(thread: WorkerThread, to: number): void {
  thread.take("felix", {
    sequence: to,
    from: to - 1,
    to,
    updates: 1,
    messages: [1],
    status: syncStatus.inSync,
    atMs: 0,
    bytes: new Map([["modern/none", new Uint8Array(1)]]),
  });
}

test("a worker that takes the place of a dead one is sent flushes with their bytes, whatever was published meanwhile", async () => {
  await using worker = await startWorker(`
    if (message.is === "freshness") process.exit(1);
    if (message.is === "flush") {
      Atomics.add(workerData.gauges, 0, 1);
      say(message.flush.sequence + (message.flush.bytes.size > 0 ? " with bytes" : " without"));
    }`);
  const { thread, clock, said } = worker;
  flushTo(thread, 1);
  await eventually(() => said().includes("1 with bytes"), "the first flush");
  thread.setFreshness(false); // it dies of it
  await eventually(() => said().includes("worker thread died; starting another"), "its death");
  for (let to = 2; to <= 200; to += 1) flushTo(thread, to);
  await clock.advance(1000);
  await eventually(() => said().filter((line) => line === "here").length === 2, "another worker");
  for (let to = 201; to <= 203; to += 1) {
    flushTo(thread, to);
    await eventually(() => said().some((line) => line.startsWith(`${to} `)), `flush ${to}`);
  }
  deepEqual(
    said().filter((line) => /^\d/.test(line)),
    ["1 with bytes", "201 with bytes", "202 with bytes", "203 with bytes"],
  );
});

test("one that cannot listen in the place of a dead one is followed by another", async () => {
  const isFirst = "workerData.listen.port === 0";
  await using worker = await startWorker(`if (message.is === "freshness") process.exit(1);`, isFirst);
  const { thread, clock, said } = worker;
  thread.setFreshness(false); // it dies of it
  const started = () => said().filter((line) => line === "here").length;
  for (let count = 2; count <= 4; count += 1) {
    await eventually(async () => {
      await clock.advance(100);
      return started() >= count;
    }, `worker ${count}`);
  }
  const complaints = said().filter((line) => line !== "here");
  deepEqual(complaints, ["worker thread died; starting another", "cannot replace worker; trying again"], "each once");
});

test("a worker that hangs is waited for two seconds, and then not at all", async () => {
  await using worker = await startWorker("");
  const { thread, clock } = worker;
  const answers = Promise.all([
    thread.reports(),
    thread.writesSince("felix", 0),
    thread.drop([1n], sessionEnds.shutdown),
  ]);
  let isAnswered = false;
  void answers.then(() => {
    isAnswered = true;
  });
  await clock.advance(1999);
  deepEqual(isAnswered, false);
  await clock.advance(1);
  deepEqual(await answers, [[], [], 0]);
  await clock.advance(1);
  deepEqual(await thread.reports(), [], "without time passing");
});

test("one that answers late is believed again when it is heard", async () => {
  await using worker = await startWorker(`
    if (message.is === "freshness") say("awake");
    if (message.is === "report") parentPort.postMessage([{ is: "report", request: message.request, clients: ["one"] }]);`);
  const { thread, clock, said } = worker;
  await clock.advance(10_000);
  deepEqual(await thread.reports(), []);
  thread.setFreshness(true);
  await eventually(() => said().includes("awake"), "a word of it");
  deepEqual(await thread.reports(), ["one"]);
});
