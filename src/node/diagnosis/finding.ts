// What a check of nodes finds: a code of the catalogue, a sentence about what was seen, and the evidence one by one.
import { type Level, type NodeFindingCode, nodeCatalogue } from "./catalogue.ts";
import type { Probe } from "./facts.ts";

export type NodeFinding = {
  readonly code: NodeFindingCode;
  readonly level: Level;
  /** Whose: a node's name, or "" for the whole cluster. */
  readonly node: string;
  readonly what: string;
  readonly evidence: readonly string[];
  readonly why: string;
  readonly fix: string;
  /** Which failed probes are its doing, so that nobody looks for another cause. */
  readonly explains: (probe: Probe) => boolean;
  /** It explains probes of this family, and its own cause is told with the other one. */
  readonly isOfOtherFamily: boolean;
};

export type Found = Pick<NodeFinding, "code" | "what"> &
  Partial<Pick<NodeFinding, "node" | "evidence" | "fix" | "explains" | "level">> & {
    readonly isOfOtherFamily?: boolean | undefined;
  };

export function finding({ code, node = "", evidence = [], explains, isOfOtherFamily, ...found }: Found): NodeFinding {
  const { level, why, fix } = nodeCatalogue[code];
  const whose = { isOfOtherFamily: isOfOtherFamily ?? false };
  return { level, why, fix, ...found, code, node, evidence, explains: explains ?? (() => false), ...whose };
}

/** All that begins or ends at a node, or at a pod of it. */
export function at(node: string): (probe: Probe) => boolean {
  return (probe) => probe.node === node || probe.fromNode === node;
}

/** For a report that is read by a program. */
export function findingJson({
  explains: _,
  isOfOtherFamily: __,
  ...rest
}: NodeFinding): Omit<NodeFinding, "explains" | "isOfOtherFamily"> {
  return rest;
}
