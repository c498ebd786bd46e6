// Calls over a unix socket, both ends: answers and errors come through whole, nobody waits for ever, nobody else gets in.
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { CattailError } from "../../lib/index.ts";
import { type AnswerCallsOptions, answerCalls } from "./answer-calls.ts";
import { callProgram } from "./call.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-calls-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;
const freshPath = (): string => {
  made += 1;
  return join(folder, `${made}.sock`);
};
const echo: AnswerCallsOptions["answer"] = async ({ call, body }) => ({ call, body });

/** What comes back for raw bytes. */
async function say(path: string, bytes: string): Promise<string> {
  const socket = createConnection(path);
  socket.on("error", () => undefined);
  socket.write(bytes);
  let answer = "";
  for await (const chunk of socket) answer += chunk;
  return answer;
}

test("a call is answered, many at once as well", async () => {
  const path = freshPath();
  await using _server = await answerCalls({ path, answer: echo });
  const bodies = Array.from({ length: 50 }, (_, i) => ({ i, text: "line\nbreak ✓".repeat(i * 100) }));
  const answers = await Promise.all(bodies.map((body) => callProgram({ path, call: "echo", body })));
  deepEqual(
    answers,
    bodies.map((body) => ({ call: "echo", body })),
  );
});

test("only this user can connect, and the socket goes with the server", async () => {
  const path = freshPath();
  const server = await answerCalls({ path, answer: echo });
  equal(statSync(path).mode & 0o777, 0o600);
  await server[Symbol.asyncDispose]();
  ok(!existsSync(path));
  ok(!readdirSync(folder).some((name) => /^\.[0-9a-f]{8}$/.test(name)), "a folder was left");
  await rejects(callProgram({ path, call: "x" }), { code: "CALL_NOBODY_LISTENS" });
});

test("errors come through with their code and next step; others with their words alone", async () => {
  const path = freshPath();
  const answer = async ({ call }: { call: string }) => {
    if (call === "known") throw new CattailError("TEST_KNOWN", { problem: "it is full", next: "Empty it" });
    throw new Error("boom");
  };
  await using _server = await answerCalls({ path, answer });
  await rejects(callProgram({ path, call: "known" }), { code: "TEST_KNOWN", problem: "it is full", next: "Empty it" });
  await rejects(callProgram({ path, call: "other" }), { code: "CALL_FAILED", problem: "boom" });
});

test("a second server is refused, and says who has the socket; after the first it listens", async () => {
  const path = freshPath();
  const first = await answerCalls({ path, answer: echo });
  await rejects(answerCalls({ path, answer: echo, waitForLockMs: 10 }), {
    code: "CALL_LISTEN",
    message: /was not free/,
  });
  equal((await callProgram({ path, call: "still there" })) !== undefined, true);
  const second = answerCalls({ path, answer: echo });
  await first[Symbol.asyncDispose]();
  await using _second = await second;
  await callProgram({ path, call: "there again" });
});

test("a server that was killed leaves a socket at which nobody listens, and the next one takes its place", async () => {
  const path = freshPath();
  const program = `
    import { answerCalls } from ${JSON.stringify(new URL("./answer-calls.ts", import.meta.url).href)};
    await answerCalls({ path: ${JSON.stringify(path)}, answer: async () => 1 });
    console.log("listening");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  equal(await callProgram({ path, call: "x" }), 1);
  child.kill("SIGKILL");
  await exited;
  ok(existsSync(path));
  await rejects(callProgram({ path, call: "x" }), { code: "CALL_NOBODY_LISTENS" });
  await using _server = await answerCalls({ path, answer: echo });
  deepEqual(await callProgram({ path, call: "x" }), { call: "x" });
});

test("time limits: for the request, for the answer, for the caller", async () => {
  const path = freshPath();
  let why: unknown;
  const answer: AnswerCallsOptions["answer"] = (_request, signal) =>
    new Promise((_, reject) =>
      signal.addEventListener("abort", () => {
        why = signal.reason;
        reject(why);
      }),
    );
  await using _server = await answerCalls({ path, answer, requestLimitMs: 20, answerLimitMs: 300 });
  equal(await say(path, "half a line"), ""); // hung up on
  await rejects(callProgram({ path, call: "slow" }), { code: "CALL_FAILED", problem: /within 300 ms/ });
  await rejects(callProgram({ path, call: "slow", limitMs: 20 }), {
    code: "CALL_TIMEOUT",
    message: /no answer to slow/,
  });
  const stop = new AbortController();
  const call = callProgram({ path, call: "slow", signal: stop.signal });
  stop.abort(new Error("enough"));
  await rejects(call, /enough/);
  ok(why !== undefined);
});

test("what is said wrongly is answered with what is wrong", async () => {
  const path = freshPath();
  await using _server = await answerCalls({ path, answer: echo, maxRequestBytes: 100 });
  for (const [bytes, says] of [
    ['{"version":2,"call":"x"}\n', /CALL_VERSION.*same release/],
    ["hello\n", /CALL_BROKEN.*not JSON/],
    ["[]\n", /not an object/],
    ['{"version":1}\n', /names no call/],
    [`${"x".repeat(101)}\n`, /CALL_TOO_LARGE/],
  ] as const) {
    match(await say(path, bytes), says);
  }
  equal(
    await say(path, '{"version":1,"call":"__proto__","body":{"__proto__":1}}\n').then((line) => JSON.parse(line).is),
    "done",
  );
});

test("answers that are none", async () => {
  for (const [line, code] of [
    ["no json\n", "CALL_BROKEN"],
    ['{"version":1,"is":"failed"}\n', "CALL_BROKEN"],
    ['{"version":1,"is":"failed","error":{"code":1}}\n', "CALL_BROKEN"],
    ["", "CALL_BROKEN"],
    [`${"x".repeat(1000)}\n`, "CALL_TOO_LARGE"],
  ] as const) {
    const path = freshPath();
    const server = createServer((socket) => socket.end(line)).listen(path);
    await once(server, "listening");
    await rejects(callProgram({ path, call: "x", maxAnswerBytes: 500 }), { code });
    server.close();
  }
});

test("what is not a socket, a path that is too long, a folder that is not there", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  await rejects(callProgram({ path: file, call: "x" }), { code: "CALL_BROKEN" });
  await rejects(answerCalls({ path: `/${"x".repeat(100)}`, answer: echo }), {
    code: "CALL_LISTEN",
    message: /90 bytes/,
  });
  await rejects(answerCalls({ path: join(folder, "no", "s"), answer: echo }), {
    code: "CALL_LISTEN",
    message: /ENOENT/,
  });
});

test("more callers than are taken are told so", async () => {
  const path = freshPath();
  const release = Promise.withResolvers<void>();
  await using _server = await answerCalls({ path, answer: () => release.promise, maxConnections: 1 });
  const calls = ["first", "second"].map((call) => callProgram({ path, call }));
  await rejects(Promise.race(calls), { code: "CALL_FAILED", problem: /1 calls are under way/ });
  release.resolve();
  deepEqual((await Promise.allSettled(calls)).map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
});

test("the server ends with its signal, and calls under way end with it", async () => {
  const path = freshPath();
  const stop = new AbortController();
  await answerCalls({ path, signal: stop.signal, answer: () => new Promise(() => undefined) });
  const call = callProgram({ path, call: "x" });
  const broken = rejects(call, { code: "CALL_BROKEN" });
  setTimeout(() => stop.abort(), 20);
  await broken;
});
