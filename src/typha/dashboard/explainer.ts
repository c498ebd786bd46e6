// May these two pods talk, asked from the page: the question out of the address, the answer of calico/explain over the felix data set as the
// nodes were told it. Reading all of it is what costs in a large cluster, so it is kept for a while, the longer the more it took.
import { CattailError, type Clock } from "../../base/lib/index.ts";
import { type Asked, answer, noSources, parseSubject, type Shown, shownOf } from "../../calico/explain/index.ts";
import { PolicyData } from "../../calico/policy/index.ts";
import type { ExplainedView, ExplainView } from "./contract.ts";
import type { FelixKeys } from "./endpoint-policies.ts";
import { Paced } from "./paced.ts";

/** Longer names do not exist. */
const mostCharacters = 600;

export class Explainer {
  readonly #keys: FelixKeys;
  readonly #data: Paced<PolicyData>;

  constructor(keys: FelixKeys, clock: Clock) {
    this.#keys = keys;
    this.#data = new Paced(clock.monotonicMs);
  }

  async ask(parameters: URLSearchParams): Promise<ExplainView> {
    try {
      const { value } = await this.#data.get("", async () => this.#read());
      return viewOf(shownOf(answer(questionOf(parameters), value), noSources));
    } catch (error) {
      if (!(error instanceof CattailError)) throw error;
      return { is: "refused", problem: error.problem, next: error.next };
    }
  }

  #read(): PolicyData {
    const data = new PolicyData();
    for (const { path, value } of this.#keys.withPrefix("/calico/")) data.set(path, value);
    return data;
  }
}

function questionOf(parameters: URLSearchParams): Asked {
  const port = parameters.get("port") ?? "";
  return {
    source: subjectOf(parameters.get("from") ?? "", "source"),
    destination: subjectOf(parameters.get("to") ?? "", "destination"),
    protocol: parameters.get("protocol") || "tcp",
    port: port === "" ? undefined : portOf(port),
    family: undefined,
  };
}

function subjectOf(text: string, what: string): Asked["source"] {
  if (text === "" || text.length > mostCharacters)
    throw new CattailError("EXPLAIN_QUESTION", {
      problem: text === "" ? `the ${what} is not given` : `the ${what} is longer than any name`,
      next: "Give NAMESPACE/POD, or an address",
    });
  const subject = parseSubject(text, "default");
  // It would be put into data that others are answered from.
  if (subject.is === "labels")
    throw new CattailError("EXPLAIN_QUESTION", {
      problem: `${text} is a pod that does not exist yet, and this page asks about those that do`,
      next: `Ask on the command line: cattail explain ${text} ...`,
    });
  return subject;
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new CattailError("EXPLAIN_QUESTION", {
    problem: `${JSON.stringify(text.slice(0, 20))} is no port`,
    next: "Give a number from 1 to 65535, or none for every port",
  });
}

function viewOf({ answers, staged, change, ...names }: Shown): ExplainView {
  const explained = (one: Shown["answers"][number]): ExplainedView => ({
    ports: one.ports ?? null,
    verdict: one.verdict,
    stages: one.stages.map(({ where, outcome, lines }) => ({ where, outcome, lines: [...lines] })),
  });
  return {
    is: "answered",
    ...names,
    answers: answers.map(explained),
    change: change ?? null,
    staged: staged.map(explained),
  };
}
