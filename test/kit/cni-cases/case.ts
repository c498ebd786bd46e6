// The recorded cases of the original's plugin `calico` (test/vectors/cni/program-cases.json): what is stored first, what is called, what
// it answered, and what it left in the datastore and in the networks of nodes and pods.
import { readFileSync } from "node:fs";
import type { JsonRecord } from "../../../src/base/lib/index.ts";
import type { CaseObject, PluginStep, Race, StoreKind } from "../ipam-cases/case.ts";

export type CniCall = PluginStep & {
  /** The pod's namespace: by default one that is called like the container; "": none is said; a path is taken as it is. */
  readonly netns?: string;
  /** Words on the command line. */
  readonly flags?: readonly string[];
  /** What the node's mtu file says. */
  readonly mtu?: number | string;
};

export type CniStep = {
  readonly add?: CniCall;
  readonly del?: CniCall;
  readonly call?: CniCall;
  readonly apply?: CaseObject | readonly CaseObject[];
  readonly delete?: CaseObject | readonly CaseObject[];
  readonly look?: object;
  /** The pod's namespace disappears, as when a runtime has torn it down. */
  readonly unplug?: string;
  /** A command on a node's network, to set a stage. */
  readonly run?: { readonly node: string; readonly sh: string };
  readonly ping?: { readonly from: string; readonly to: string };
  readonly race?: readonly Race[];
  readonly contains?: readonly string[];
};

export type NetworkState = {
  readonly links: { readonly [name: string]: JsonRecord };
  readonly routes: readonly string[];
  readonly neigh: readonly string[];
  readonly sysctls: { readonly [name: string]: string };
};
export type Networks = {
  readonly nodes: { readonly [node: string]: NetworkState };
  readonly pods: { readonly [container: string]: NetworkState };
};

export type CniOutcome = { readonly rc: number; readonly out: unknown };
export type CniPlayed = {
  readonly steps: readonly CniOutcome[];
  readonly store: JsonRecord;
  readonly network: Networks;
  /** Whether each log file holds anything. */
  readonly logs: { readonly [file: string]: boolean };
};

export type CniCase = {
  readonly name: string;
  readonly about: string;
  readonly datastores: readonly StoreKind[];
  readonly objects: readonly CaseObject[];
  readonly no_ready?: boolean;
  readonly rights?: "cni" | "seed" | "none";
  /** MACs that are not by chance. */
  readonly macs?: readonly string[];
  readonly conf?: JsonRecord;
  readonly steps: readonly CniStep[];
  readonly expect: { readonly [kind in StoreKind]?: CniPlayed };
};

export function cniCases(): readonly CniCase[] {
  return JSON.parse(readFileSync("test/vectors/cni/program-cases.json", "utf8")) as CniCase[]; // our own vectors
}
