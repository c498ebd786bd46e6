// The recorded cases of the original's calico-ipam (test/vectors/ipam/program-cases.json): what is stored first, what is called, what it
// answered, and what it left.
import { readFileSync } from "node:fs";
import type { JsonRecord } from "../../../src/base/lib/index.ts";

export type StoreKind = "kubernetes" | "etcdv3";

/** As an operator or another program would store it. `raw` is an etcd key. */
export type CaseObject = {
  readonly kind: string;
  /** In one datastore's form. */
  readonly only?: StoreKind;
  readonly key?: string;
  readonly value?: unknown;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: object;
    readonly annotations?: object;
  };
  readonly spec?: JsonRecord;
};

export type PluginStep = {
  readonly node: string;
  readonly container: string;
  readonly pod?: string;
  readonly command?: string;
  readonly ifname?: string;
  readonly args?: string;
  readonly conf?: JsonRecord;
  readonly env?: { readonly [name: string]: string };
  readonly stdin?: string;
  readonly nodename?: string | false;
};

export type Race = {
  readonly method: string;
  readonly path: string;
  readonly nth?: number;
  /** So many more times. */
  readonly again?: number;
  readonly do?: readonly Interference[];
  readonly answer?: 403 | 500 | 503;
};
export type Edit = { readonly kind: string; readonly name: string; readonly change: JsonRecord };
export type Take = {
  readonly block: string;
  readonly ordinal: number;
  readonly handle: string;
  readonly node: string;
};
export type Interference = {
  readonly apply?: readonly CaseObject[];
  readonly edit?: Edit;
  readonly take?: Take;
  readonly delete?: CaseObject;
  /** As NAMESPACE/NAME: somebody labels it. */
  readonly pod?: string;
  readonly labels?: { readonly [name: string]: string };
};

export type CaseStep = {
  readonly add?: PluginStep;
  readonly del?: PluginStep;
  readonly call?: PluginStep;
  readonly fill?: PluginStep & { readonly count: number; readonly from?: number };
  readonly apply?: CaseObject | readonly CaseObject[];
  readonly edit?: { readonly [kind in StoreKind]?: Edit };
  readonly dump?: object;
  readonly sleep?: number;
  readonly race?: readonly Race[];
  /** Of the error's text only these words count: the rest comes from a language's own parser. */
  readonly contains?: readonly string[];
};

export type Outcome = { readonly rc: number; readonly out: unknown };
export type Played = { readonly steps: readonly Outcome[]; readonly store: JsonRecord };

export type Case = {
  readonly name: string;
  readonly about: string;
  readonly datastores: readonly StoreKind[];
  readonly objects: readonly CaseObject[];
  readonly rights?: "cni" | "seed" | "none";
  readonly conf?: JsonRecord;
  readonly steps: readonly CaseStep[];
  readonly expect: { readonly [kind in StoreKind]?: Played };
};

export function ipamCases(): readonly Case[] {
  return JSON.parse(readFileSync("test/vectors/ipam/program-cases.json", "utf8")) as Case[]; // our own vectors
}
