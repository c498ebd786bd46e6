// The differential fuzzer: the same streams into Go's decoder and ours, and both must agree on every value and on
// whether the stream is good. Ours may refuse more only by its limits, which are counted apart.
import { readFileSync } from "node:fs";
import { decoder, GobError, type Schema } from "../../src/base/gob/index.ts";
import { dump } from "../kit/gob-dump.ts";
import { gobTypes } from "../kit/gob-types.ts";
import { type Random, seededRandom } from "../kit/random.ts";
import { generate } from "./gob-generate.ts";
import { mutate } from "./gob-mutate.ts";
import { type Case, goCorpus, Oracle, typeNames, type Verdict } from "./gob-oracle.ts";

export type Tally = { cases: number; accepted: number; refused: number; limited: number; ambiguous: number };
export type FuzzOptions = {
  oraclePath: string;
  seed: number;
  cases: number;
  onProgress?: (tally: Tally) => void;
};

type Outcome = { ends: "end" | "error" | "limit"; text: string; why: string };

const batchSize = 2000;
const schemas: readonly Schema<unknown>[] = [...gobTypes.values()];
const limits = { messageBytes: 1 << 14 };

/** Runs the cases; throws at the first disagreement, with all that is needed to look into it. */
export async function fuzz(options: FuzzOptions): Promise<Tally> {
  const random = seededRandom(options.seed);
  const seeds = [...vectorSeeds(), ...goCorpus(options.oraclePath, options.seed, 3000)];
  const tally: Tally = { cases: 0, accepted: 0, refused: 0, limited: 0, ambiguous: 0 };
  using oracle = new Oracle(options.oraclePath);
  let awaited: Promise<void> = Promise.resolve();
  for (let made = 0; made < options.cases; made += batchSize) {
    const cases = Array.from({ length: Math.min(batchSize, options.cases - made) }, () => makeCase(random, seeds));
    const outcomes = cases.map((each) => decodeOurs(each, random));
    await awaited;
    awaited = compare(options, oracle, cases, outcomes, tally);
    // Go works on this batch while the next one is made.
    awaited.catch(() => undefined);
    options.onProgress?.(tally);
  }
  await awaited;
  return tally;
}

/** What we decode, with all that a report needs. Never throws but for what must not happen. */
function decodeOurs({ type, stream }: Case, random: Random): Outcome {
  const schema = schemas[type];
  if (schema === undefined) throw new Error(`no schema ${type}`);
  const values: string[] = [];
  const stages = decoder(schema, limits);
  const take = (): void => {
    for (let next = stages.next(); next !== undefined; next = stages.next())
      values.push(`${dump(schema, next.value)}\n`);
  };
  try {
    for (const piece of split(stream, random)) {
      stages.feed(piece);
      take();
    }
    stages.end();
    return { ends: "end", text: values.join(""), why: "" };
  } catch (error) {
    if (!(error instanceof GobError)) throw new Error(reproduce({ type, stream }), { cause: error });
    return { ends: isStricter(error) ? "limit" : "error", text: values.join(""), why: error.message };
  }
}

/** Where we refuse what Go accepts, or would try to: the documented exceptions (src/base/gob/README.md). */
function isStricter(error: GobError): boolean {
  if (error.code === "GOB_OPAQUE") return / nanoseconds /.test(error.message);
  return error.code.startsWith("GOB_LIMIT_") || error.code === "GOB_DUPLICATE_FIELD";
}

function split(stream: Uint8Array, random: Random): Uint8Array[] {
  if (!random.isOneIn(4)) return [stream];
  const at = random.below(stream.length + 1);
  return [stream.subarray(0, at), stream.subarray(at)];
}

function makeCase(random: Random, seeds: readonly Case[]): Case {
  const type = random.below(schemas.length);
  const kind = random.below(8);
  if (kind < 2) return { type, stream: generate(random, random.pick(schemas.slice(type, type + 1))) };
  if (kind === 2) {
    const stream = generate(random, random.pick(schemas.slice(type, type + 1)));
    return { type, stream: mutate(random, stream, random.pick(seeds).stream) };
  }
  const seed = random.pick(seeds);
  const into = random.isOneIn(6) ? type : seed.type;
  return { type: into, stream: mutate(random, seed.stream, random.pick(seeds).stream) };
}

function vectorSeeds(): Case[] {
  const vectors: { into: string; hex: string }[] = JSON.parse(readFileSync("test/vectors/gob/go.json", "utf8"));
  return vectors
    .map(({ into, hex }) => ({ type: typeNames.indexOf(into), stream: new Uint8Array(Buffer.from(hex, "hex")) }))
    .filter(({ stream }) => stream.length > 0 && stream.length < 1200);
}

async function compare(
  options: FuzzOptions,
  oracle: Oracle,
  cases: readonly Case[],
  outcomes: readonly Outcome[],
  tally: Tally,
): Promise<void> {
  // What our limits refuse is not shown to Go: some of it would make Go allocate or loop without end.
  const asked = cases.filter((_, i) => outcomes[i]?.ends !== "limit");
  const verdicts = await oracle.judge(asked);
  const answers = outcomes.filter((outcome) => outcome.ends !== "limit");
  tally.cases += cases.length;
  tally.limited += cases.length - asked.length;
  for (const [i, verdict] of verdicts.entries()) {
    const [each, ours] = [asked[i], answers[i]];
    if (each === undefined || ours === undefined) throw new Error("Go answered more than it was asked");
    if (verdict.ends === "ambiguous") tally.ambiguous++;
    else if (!agree(ours, verdict)) throw new Error(await report(options, each, ours));
    else if (ours.ends === "end") tally.accepted++;
    else tally.refused++;
  }
}

function agree(ours: Outcome, verdict: Verdict): boolean {
  return (ours.ends === "end") === (verdict.ends === "end") && ours.text === verdict.text;
}

async function report(options: FuzzOptions, each: Case, ours: Outcome): Promise<string> {
  using oracle = new Oracle(options.oraclePath, { verbose: true });
  const [verdict] = await oracle.judge([each]);
  return [
    `Go and we disagree on ${reproduce(each)} (seed ${options.seed})`,
    `ours: ${ours.ends} ${ours.why}\n${ours.text}`,
    `Go's: ${verdict?.ends}\n${verdict?.text}`,
  ].join("\n");
}

function reproduce({ type, stream }: Case): string {
  return `into ${typeNames[type]}: ${Buffer.from(stream).toString("hex")}`;
}
