// One try of a flow whose verdict is known, and what is found out about it. A process that did not get its turn answers late, and a packet
// can be lost on a way that no rule is on: so "answered late" and "lost" are told apart from a verdict.
//
//   allow   one packet ─▶ answered within patience              right
//                      ─▶ answered later                        right, late
//           a second   ─▶ answered, and the first never         lost: a packet was dropped, by a rule or by something else
//                      ─▶ neither answered, or refused          wrong
//   deny    one packet ─▶ any answer, or any arrival            wrong, however late
import type { ProbedFlow } from "../../kit/policy/flow.ts";
import type { PolicyLab } from "../../kit/policy/lab.ts";
import { Probe } from "../../kit/policy/probe.ts";

export type Watched = {
  readonly is: "right" | "late" | "lost" | "wrong";
  /** What was seen, for whoever looks for the cause. */
  readonly seen: string;
};

/** Of a denied one, answers are waited for as long as a starved process may take to give them. */
const patienceMs = { answer: 5_000, second: 15_000, denied: 2_000 };

export async function watchFlow(flow: ProbedFlow, wanted: "allow" | "deny", lab: PolicyLab): Promise<Watched> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const startedMs = performance.now();
  const probe = new Probe(flow, lab.resolve(flow), lab.servers, end);
  try {
    await within(ended, wanted === "allow" ? patienceMs.answer : patienceMs.denied);
    // TCP has asked again by itself, a second after the first time.
    const isLate = wanted === "allow" && probe.outcome === undefined;
    if (isLate) {
      probe.again();
      await within(ended, patienceMs.second);
    }
    const seen = `${probe.outcome ?? "no answer"} after ${Math.round(performance.now() - startedMs)} ms, to packet ${
      probe.answered
    }, ${probe.retransmissions} asked again, ${probe.hasArrived ? "arrived" : "not seen to arrive"}`;
    if (wanted === "deny") return { is: probe.outcome === undefined && !probe.hasArrived ? "right" : "wrong", seen };
    if (probe.outcome !== "allow") return { is: "wrong", seen };
    if (probe.answered > 1 || probe.retransmissions > 0) return { is: "lost", seen };
    return { is: isLate ? "late" : "right", seen };
  } finally {
    probe.close();
  }
}

async function within(ended: Promise<void>, limitMs: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => setImmediate(() => setImmediate(resolve)), limitMs);
  await Promise.race([ended, over]);
  clearTimeout(timer);
}
