// What the dashboard asks of the server it shows. The server implements it; the dashboard adds history and advice.
import type { AttentionFacts } from "./attention.ts";
import type { KeysView, KeyView, NodesView, OverviewView, WatchView } from "./contract.ts";
import type { FelixKeys, KeyValue } from "./endpoint-policies.ts";
import type { Sample } from "./history.ts";
import type { Target } from "./nodes/sweep.ts";

export type KeyQuery = {
  readonly syncer: string;
  readonly kind: string;
  readonly search: string;
  readonly offset: number;
  readonly limit: number;
};

export type DashboardSource = {
  /** Numbers for the plots, taken every few seconds. */
  sample(): Promise<Sample>;
  facts(): Promise<Omit<OverviewView, "history" | "attention" | "nowMs" | "nodes" | "otherClients">>;
  nodes(): Promise<NodesView>;
  watches(): WatchView[];
  invalidObjects(): AttentionFacts["invalidObjects"];
  manifestProblems(): AttentionFacts["manifestProblems"];
  keys(query: KeyQuery): KeysView;
  key(syncer: string, path: string): Promise<KeyView | undefined>;
  readonly felix: FelixKeys;
  /** The CalicoNodeStatus objects. */
  statuses(): Iterable<KeyValue>;
  readonly nodeReports: NodeReports;
};

/** How the agent of a node is asked what it says of itself, where that is switched on; or why it is not. */
export type NodeReports =
  | { readonly is: "on"; readonly ask: (target: Target, path: string) => Promise<string> }
  | { readonly is: "off"; readonly why: string };
