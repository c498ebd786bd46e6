import { equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import { CattailError } from "../../base/lib/index.ts";
import { understood } from "./fail.ts";

const errno = (code: string) => Object.assign(new Error(`${code}: too many open files, open '/x'`), { code });

const outOfFiles: { what: string; error: Error }[] = [
  { what: "the process's limit", error: errno("EMFILE") },
  { what: "the machine's limit", error: errno("ENFILE") },
  { what: "a thread that has it in its words alone", error: new Error("Worker initialization failure: EMFILE") },
  {
    what: "an error of ours that it was the cause of",
    error: new CattailError("LOG_FILE", { problem: "p", next: "n", cause: errno("EMFILE") }),
  },
];
for (const { what, error } of outOfFiles) {
  test(`too many open files, ${what}: says which limit to raise`, () => {
    const said = understood(error);
    ok(said instanceof CattailError && said.code === "TOO_MANY_FILES" && said.next.includes("ulimit -n"));
    equal(said.cause, error);
  });
}

for (const error of [errno("ENOENT"), new CattailError("LOG_FILE", { problem: "p", next: "n" }), "text", undefined]) {
  test(`any other error is what it is: ${String(error)}`, () => equal(understood(error), error));
}

const refusals: { name: string; error: Error; next: RegExp }[] = [
  { name: "a server that is away", error: refusal({ code: "unavailable" }), next: /cattail doctor/ },
  {
    name: "a right that is missing",
    error: refusal({ code: "forbidden", missingRule: "- verbs: [get]\n" }),
    next: /:\n- verbs: \[get\]$/,
  },
  { name: "what knows better", error: refusal({ code: "no-such-kind", next: "install it" }), next: /^Install it$/ },
  { name: "anything else", error: refusal({ code: "invalid" }), next: /cattail doctor/ },
];
for (const { name, error, next } of refusals) {
  test(`a datastore's error is told in words, without a stack: ${name}`, () => {
    const said = understood(error);
    ok(said instanceof CattailError && said.code === "DATASTORE" && said.problem === "it said no");
    match(said.next, next);
  });
}

function refusal(fields: { code: string; next?: string; missingRule?: string }): Error {
  return Object.assign(new Error("it said no"), { name: "DatastoreError" }, fields);
}
