// What every datastore promises, tried on all four: real etcd and kube-apiserver, a real folder, and memory.
import { describe, test } from "node:test";
import { kindCases } from "./datastore-contract-kinds.ts";
import { narrowingCases } from "./datastore-contract-narrowing.ts";
import { readingCases } from "./datastore-contract-reading.ts";
import { contractSubjects, type Opened } from "./datastore-contract-subjects.ts";
import { writingCases } from "./datastore-contract-writing.ts";

const all = [...readingCases, ...narrowingCases, ...writingCases, ...kindCases];
// To forget history may mean to restart a server: last.
const cases = [...all.filter(({ needs }) => needs !== "history"), ...all.filter(({ needs }) => needs === "history")];

const subjects = await contractSubjects();
describe("the contract", { concurrency: subjects.length }, () => {
  for (const subject of subjects) {
    describe(subject.name, { concurrency: false }, () => {
      let opened: Promise<Opened> | undefined;
      for (const { name, needs, except, run } of cases) {
        if (needs === "writes" && !subject.isWritable) continue;
        if (needs === "history" && subject.name.startsWith("directory")) continue; // its history is memory's
        const skip = subject.missing ?? except?.[subject.name] ?? false;
        test(`${subject.name}: ${name}`, { skip, timeout: 300_000 }, async () => {
          opened ??= subject.open();
          await run(await opened, subject);
        });
      }
      test(`${subject.name}: closes`, { skip: subject.missing ?? false }, async () => {
        await (await opened)?.[Symbol.asyncDispose]();
      });
    });
  }
});
