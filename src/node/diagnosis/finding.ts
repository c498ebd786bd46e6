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
};

export type Found = Pick<NodeFinding, "code" | "what"> &
  Partial<Pick<NodeFinding, "node" | "evidence" | "fix" | "explains" | "level">>;

export function finding({ code, node = "", evidence = [], explains, ...found }: Found): NodeFinding {
  const { level, why, fix } = nodeCatalogue[code];
  return { level, why, fix, ...found, code, node, evidence, explains: explains ?? (() => false) };
}

/** All that begins or ends at a node, or at a pod of it. */
export function at(node: string): (probe: Probe) => boolean {
  return (probe) => probe.node === node || probe.fromNode === node;
}

/** For a report that is read by a program. */
export function findingJson({ explains: _, ...rest }: NodeFinding): Omit<NodeFinding, "explains"> {
  return rest;
}
