// All that address management needs of whatever keeps its data, so that a program that lives longer than one request can put a
// cache in its place: it answers steps from memory where it knows, and passes on the rest.
//
//   library (open-ipam.ts) ──steps──▶ carryOut ──step by step──▶ IpamAccess.answer ──▶ datastore-access.ts, or a cache before it
//                          ──facts──▶ IpamAccess.config, pools, …
import type { Answer, IpamSettings, Pool, Reservations, Step } from "../ipam/index.ts";
import type { Labels } from "../model/index.ts";

export type Call = { readonly signal?: AbortSignal | undefined };

/** Without a persistence, what is stored does not say it; that is as good as Enabled. */
export type IpamConfig = IpamSettings & { readonly kubeVirtVMAddressPersistence?: "Enabled" | "Disabled" };

/** What holds where nobody has written a configuration. */
export const defaultConfig: IpamConfig = {
  strictAffinity: false,
  autoAllocateBlocks: true,
  maxBlocksPerHost: 0,
  cooldownSeconds: 0,
  kubeVirtVMAddressPersistence: "Enabled",
};

/** What is read about the cluster before addresses are looked for. Each throws ResourceError for what the datastore says. */
export type IpamFacts = {
  config(call: Call): Promise<IpamConfig>;
  /** All of them, disabled ones too. */
  pools(call: Call): Promise<readonly Pool[]>;
  reservations(call: Call): Promise<Reservations>;
  /** Throws "not-found" where there is no such node. */
  nodeLabels(node: string, call: Call): Promise<Labels>;
};

export type IpamAccess = IpamFacts & {
  /**
   * Carries one step out. What goes wrong is an answer, not a throw; "failed" with `wasWritten: "no"` only where it is sure that
   * nothing was written.
   */
  answer(step: Step, call: Call): Promise<Answer>;
  writeConfig(config: IpamConfig, call: Call): Promise<void>;
  /** Old affinities of a node get the labels by which they are found. How many did. */
  labelAffinities(node: string, call: Call): Promise<number>;
  /** What old versions wrote of a node besides its affinities, which is in etcd alone. */
  forgetNode(node: string, call: Call): Promise<void>;
};
