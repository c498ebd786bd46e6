import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { AnswerReader, askBird, type BirdLine, type Read } from "./control-socket.ts";

const greeting = "0001 BIRD 2.0.12 ready.\n";
const answers: { name: string; text: string; lines: BirdLine[] | string }[] = [
  {
    name: "rows take the code of the line before",
    text: `${greeting}2002-Name Proto\n1002-device1 Device\n Mesh_1 BGP\n0000 \n`,
    lines: [
      { code: 2002, text: "Name Proto" },
      { code: 1002, text: "device1 Device" },
      { code: 1002, text: "Mesh_1 BGP" },
    ],
  },
  { name: "an end without a blank is an end", text: "1002-a\n0000\n", lines: [{ code: 1002, text: "a" }] },
  {
    name: "an end may say something",
    text: "0013 Daemon is up and running\n",
    lines: [{ code: 13, text: "Daemon is up and running" }],
  },
  {
    name: "an error is said",
    text: `${greeting}9001 syntax error, unexpected CF_SYM_UNDEFINED\n`,
    lines: "syntax error, unexpected CF_SYM_UNDEFINED",
  },
  {
    name: "something else is no answer",
    text: "HTTP/1.1 400 Bad Request\n",
    lines: '"HTTP/1.1 400 Bad Request" is no line of an answer',
  },
];

function outcome(read: Read): BirdLine[] | string | undefined {
  if (read.is === "more") return undefined;
  return read.is === "answer" ? [...read.lines] : read.says;
}

for (const { name, text, lines } of answers) {
  test(`BIRD's answers: ${name}`, () => deepEqual(outcome(new AnswerReader().feed(text)), lines));

  test(`BIRD's answers, in any pieces: ${name}`, () => {
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const reader = new AnswerReader();
        let read: Read = { is: "more" };
        let from = 0;
        for (const to of [...cuts.sort((a, b) => a - b), text.length]) {
          if (read.is === "more") read = reader.feed(text.slice(from, to));
          from = to;
        }
        deepEqual(outcome(read), lines);
      }),
    );
  });
}

test("whatever a socket says, it is read or refused", () => {
  const line = fc.oneof(fc.string(), fc.stringMatching(/^\d{4}[ -].{0,9}$/), fc.stringMatching(/^ .{0,9}$/));
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      new AnswerReader().feed(lines.map((each) => `${each}\n`).join(""));
    }),
  );
});

async function bird(t: TestContext, says: (command: string) => string | undefined): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "cattail-bird-"));
  const path = join(folder, "bird.ctl");
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write(greeting);
    socket.on("data", (data) => {
      const answer = says(String(data));
      if (answer === "hang up") socket.end();
      else if (answer !== undefined) socket.write(answer);
    });
  });
  await new Promise<void>((listening) => server.listen(path, listening));
  t.after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  return path;
}

test("a BIRD is asked and answers", async (t) => {
  const path = await bird(t, (command) => (command === "show status\n" ? "1000-BIRD 2\n0000 \n" : "9001 what?\n"));
  deepEqual(await askBird(path, "show status"), [{ code: 1000, text: "BIRD 2" }]);
  await rejects(askBird(path, "show x"), { code: "BIRD_ANSWER", problem: `BIRD at ${path}: what?` });
});

const silent: { name: string; says: () => string | undefined; problem: RegExp; options?: object }[] = [
  { name: "is silent", says: () => undefined, problem: /did not answer within 30 ms/, options: { silenceMs: 30 } },
  { name: "hangs up", says: () => "hang up", problem: /hung up/ },
  {
    name: "talks without end",
    says: () => `1002-${"x".repeat(5000)}`,
    problem: /longer than 999/,
    options: { mostBytes: 999 },
  },
];
for (const { name, says, problem, options } of silent) {
  test(`a BIRD that ${name} is no answer`, async (t) => {
    await rejects(askBird(await bird(t, says), "show protocols", options), { code: "BIRD_ANSWER", problem });
  });
}

test("where nobody listens, that is said, with the system's error as cause", async () => {
  await rejects(askBird("/nowhere/bird.ctl", "show status"), (error: Error & { code: string }) => {
    equal(error.code, "BIRD_UNREACHABLE");
    equal((error.cause as { code: string }).code, "ENOENT");
    return true;
  });
});
