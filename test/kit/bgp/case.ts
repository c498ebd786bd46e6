// A recorded case of BGP: nodes, objects and outside routers on one side, what BIRD then does on the other (test/vectors/bgp).
import { readFileSync } from "node:fs";

export type Workload = { readonly ip: string; readonly dev?: string; readonly metric?: number };

export type CaseNode = {
  readonly name: string;
  readonly ip?: string;
  readonly ip6?: string;
  readonly net?: "a" | "b";
  readonly as?: number;
  readonly rr?: string;
  readonly labels?: { readonly [name: string]: string };
  readonly annotations?: { readonly [name: string]: string };
  readonly workloads?: readonly Workload[];
  readonly routes?: readonly string[];
  readonly env?: { readonly [name: string]: string };
  /** Its Node object comes later. */
  readonly objectMissing?: boolean;
  /** There is an object, but no machine. */
  readonly absent?: boolean;
};

export type Neighbor = {
  readonly ip: string;
  readonly as: number;
  readonly localAS?: number;
  readonly password?: string;
  readonly port?: number;
  readonly ttl?: number;
  readonly ttlSecurity?: boolean;
  readonly direct?: boolean;
  readonly passive?: boolean;
  readonly rrClient?: boolean;
  readonly nextHopKeep?: boolean;
  readonly addPaths?: boolean;
};

export type Tor = {
  readonly name: string;
  readonly ip: string;
  readonly ip6?: string;
  readonly net?: "a" | "b";
  readonly as: number;
  readonly port?: number;
  readonly neighbors: readonly Neighbor[];
  readonly announce?: readonly string[];
  readonly addCommunities?: readonly string[];
  readonly prepend?: readonly number[];
  readonly reexport?: boolean;
  readonly direct?: boolean;
};

export type KubeObject = {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
};

export type Stage = {
  readonly apply?: readonly KubeObject[];
  readonly nodes?: readonly CaseNode[];
  readonly delete?: readonly (readonly [kind: string, name: string, namespace?: string])[];
};

export type BgpCase = {
  readonly about: string;
  readonly nodes: readonly CaseNode[];
  readonly objects?: readonly KubeObject[];
  readonly tors?: readonly Tor[];
  readonly stages?: readonly Stage[];
};

export type SessionFact = {
  readonly peer: string;
  readonly as: number;
  readonly kind: string;
  readonly state: string;
  readonly internal?: boolean;
  readonly rrClient?: boolean;
};

export type RouteFact = { readonly prefix: string; readonly [field: string]: unknown };
export type KernelFact = {
  readonly dst: string;
  readonly type: string;
  readonly via: readonly string[];
  readonly metric: number;
  readonly optional?: boolean;
};

/** What is compared of one machine. */
export type MachineFacts = {
  readonly sessions?: readonly SessionFact[];
  readonly received?: { readonly [peer: string]: readonly RouteFact[] };
  readonly kernel?: readonly KernelFact[];
};

export type StageFacts = {
  readonly nodes: { readonly [name: string]: MachineFacts };
  readonly tors: { readonly [name: string]: MachineFacts };
  /** "NODE PEER" of the sessions that stay up through the stage. */
  readonly kept?: readonly string[];
};

type Recorded = { readonly case: BgpCase; readonly expect: readonly StageFacts[] };

const file = new URL("../../vectors/bgp/cases.json", import.meta.url);
// The runner that recorded them wrote exactly these forms.
const recorded = JSON.parse(readFileSync(file, "utf8")) as { readonly [name: string]: Recorded };

export const bgpCaseNames: readonly string[] = Object.keys(recorded);

export function readBgpCase(name: string): { readonly played: BgpCase; readonly expected: readonly StageFacts[] } {
  const found = recorded[name];
  if (found === undefined) throw new Error(`there is no case ${name}`);
  return { played: found.case, expected: found.expect };
}
