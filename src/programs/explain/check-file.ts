// Expected verdicts in a file, so that a folder of policies can be tested before it is applied:
//
//   - from: shop/web
//     to: shop/db
//     port: 5432
//     expect: allow
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { CattailError, isRecord, messageOf } from "../../base/lib/index.ts";
import { type Answered, answer, parseSubject } from "../../calico/explain/index.ts";
import type { PolicyData } from "../../calico/policy/index.ts";

export type Expectation = {
  readonly from: string;
  readonly to: string;
  readonly protocol: string;
  readonly port: number | undefined;
  readonly expect: "allow" | "deny";
};

export type Checked = { readonly expectation: Expectation; readonly isMet: boolean } & (
  | { readonly answered: Answered }
  /** Nothing could be asked: there is no such pod, for example. */
  | { readonly problem: string }
);

const fields = ["from", "to", "protocol", "port", "expect"];

export function readExpectations(file: string): readonly Expectation[] {
  const document = readYaml(file);
  const list = isRecord(document) ? document.flows : document;
  if (!Array.isArray(list) || list.length === 0) throw wrong(file, "holds no list of flows");
  return list.map((entry: unknown, index) => readExpectation(entry, file, index + 1));
}

function readYaml(file: string): unknown {
  const text = readText(file);
  try {
    return parse(text, { logLevel: "error" });
  } catch (error) {
    const [line = ""] = messageOf(error).split(/:?\n/); // what follows quotes the file
    throw wrong(file, `is not YAML: ${line}`);
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CattailError("EXPLAIN_CHECK_FILE", {
      problem: `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? messageOf(error)})`, // what readFile throws
      next: "Check the path, and that it is a file that this user may read",
      cause: error,
    });
  }
}

function readExpectation(entry: unknown, file: string, number: number): Expectation {
  if (!isRecord(entry)) throw wrong(file, `flow ${number} is not a map of from, to and expect`);
  const unknown = Object.keys(entry).find((name) => !fields.includes(name));
  if (unknown !== undefined) throw wrong(file, `flow ${number} has a field ${JSON.stringify(unknown)}`);
  const { from, to, protocol = "tcp", port, expect } = entry;
  if (typeof from !== "string" || typeof to !== "string")
    throw wrong(file, `flow ${number} has no ${typeof from === "string" ? "to" : "from"} that is text`);
  if (expect !== "allow" && expect !== "deny")
    throw wrong(file, `flow ${number} has expect ${JSON.stringify(expect)}, which must be allow or deny`);
  if (port !== undefined && !(Number.isInteger(port) && Number(port) > 0 && Number(port) < 65536))
    throw wrong(file, `flow ${number} has port ${JSON.stringify(port)}, which must be a number from 1 to 65535`);
  return { from, to, protocol: String(protocol), port: port === undefined ? undefined : Number(port), expect };
}

function wrong(file: string, problem: string): CattailError {
  return new CattailError("EXPLAIN_CHECK_FILE", {
    problem: `${file} ${problem}`,
    next: `Each flow has ${fields.join(", ")}; cattail explain --help shows one`,
  });
}

/** Without a port the verdict has to be the same on all of them. */
export function check(
  expectation: Expectation,
  data: PolicyData,
  namespace: string,
  family: 4 | 6 | undefined,
): Checked {
  const { from, to, protocol, port, expect } = expectation;
  try {
    const [source, destination] = [parseSubject(from, namespace), parseSubject(to, namespace)];
    const answered = answer({ source, destination, protocol, port, family }, data.copy());
    const verdicts =
      answered.ports.length > 0 ? answered.ports.map(({ verdict }) => verdict.verdict) : [answered.verdict?.verdict];
    return { expectation, answered, isMet: verdicts.every((verdict) => verdict === expect) };
  } catch (error) {
    // One flow that cannot be asked about is one that is not as expected; the others still are to be looked at.
    if (!(error instanceof CattailError)) throw error;
    return { expectation, isMet: false, problem: error.problem };
  }
}
