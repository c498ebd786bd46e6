// What start-up is given, and what its steps share.
import type { Environment } from "../../base/config/index.ts";
import type { Clock, Log } from "../../base/lib/index.ts";
import type { Datastore, KubernetesDatastore } from "../../calico/datastore/index.ts";
import type { Resources } from "../../calico/resources/index.ts";
import type { HostInterface } from "./addresses/interfaces.ts";
import type { Patience } from "./cluster/patience.ts";
import type { ReadNodeSettings } from "./settings/read.ts";

export type StartupWorld = {
  readonly environment: Environment;
  readonly datastore: Datastore;
  /** The Kubernetes API beside a datastore that is none. */
  readonly kubernetesBeside?: KubernetesDatastore | undefined;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** For texts of several lines that a person is to copy. */
  readonly say: (text: string) => void;
  /** The host's, unless a test has others. */
  readonly interfaces?: () => Promise<readonly HostInterface[]>;
};

export type Step = StartupWorld & {
  readonly read: ReadNodeSettings;
  readonly resources: Resources;
  readonly patience: Patience;
  readonly node: string;
  /** The API server that answers questions about rights and Nodes. */
  readonly kubernetes: KubernetesDatastore | undefined;
};
