// What a plugin is given for one call, whoever answers it.
import type { Clock } from "../../base/lib/index.ts";
import type { PodNetwork } from "../endpoints/index.ts";
import type { Backing } from "./backing.ts";
import type { Variables } from "./protocol/call.ts";

export type PluginOptions = {
  /** Of the runtime's call. */
  readonly variables: Variables;
  readonly backing: Backing;
  /** Of a program that stays; not given: one for this call. */
  readonly network?: PodNetwork;
  readonly clock: Clock;
  readonly random: () => number;
  readonly version: string;
  /** For what is no reason to fail. */
  readonly warn: (text: string) => void;
  /** Whether a file that is named like the IPAM plugin is this very program: it is then called in this process. */
  readonly isOwnFile: (file: string) => boolean;
  /** Aborted when nobody waits for the answer any more: what is not done yet is left, and what was done is undone. */
  readonly signal?: AbortSignal | undefined;
};
