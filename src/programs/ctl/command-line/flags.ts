// Flags that several commands of ctl have, each said once.
import type { Flag } from "../command.ts";

/** Every command takes these, before or after its name. */
export const globalFlags: readonly Flag[] = [
  {
    name: "log-level",
    short: "l",
    value: "LEVEL",
    default: "panic",
    says: "what is logged to standard error: panic, fatal, error, warn, info or debug; advice on errors comes from warn on",
  },
  { name: "context", value: "NAME", says: "the context of the kubeconfig, as K8S_CURRENT_CONTEXT" },
  {
    name: "allow-version-mismatch",
    says: "go on without comparing the cluster's Calico version with those that this program speaks",
  },
];

export const helpFlag: Flag = { name: "help", short: "h", says: "what this command takes, with examples" };

export const defaultConfigFile = "/etc/calico/calicoctl.cfg";

export const config: Flag = {
  name: "config",
  short: "c",
  value: "FILE",
  default: defaultConfigFile,
  says: "how to reach the datastore, as YAML or JSON; a file that exists replaces the environment altogether",
};

export const namespace: Flag = {
  name: "namespace",
  short: "n",
  value: "NAMESPACE",
  says: "the namespace of objects that do not name theirs; without it, default",
};

/** Of the commands that read objects. */
export const input: readonly Flag[] = [
  { name: "filename", short: "f", value: "FILE", says: "a file, a folder, or - for standard input" },
  { name: "recursive", short: "R", says: "with a folder: the folders below it, too" },
  { name: "skip-empty", says: "a file or folder without objects is no error" },
  config,
  namespace,
];
