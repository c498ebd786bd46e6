// Which datastore the doctor of nodes reads: by flags, or by the variables that the agent of the node has.
import type { Command } from "commander";
import { CattailError, systemClock } from "../../../base/lib/index.ts";
import type { Account, Datastore, DatastoreOptions } from "../../../calico/datastore/index.ts";
import { nodeDatastoreOptions } from "../../../node/settings/index.ts";
import { accountOf } from "../account.ts";
import type { NodeOptions } from "./examine-node.ts";

export type DatastoreFlags = {
  node?: string;
  facts: string[];
  kubeconfig?: string;
  etcd?: string;
  directory?: string;
  asServiceAccount?: Account;
};

const patienceMs = 120_000;

export function withDatastore(command: Command): Command {
  return command
    .option("--kubeconfig <file>", "credentials of the API server (or KUBECONFIG)")
    .option("--etcd <urls>", "endpoints of etcd (or ETCD_ENDPOINTS)")
    .option("--directory <folder>", "folder of manifests as the datastore (or DATASTORE_DIRECTORY)")
    .option(
      "--as-service-account <namespace/name>",
      "look at the rights of this account as a node, not at your own",
      accountOf,
    );
}

export function optionsOf(
  flags: Pick<DatastoreFlags, "node" | "facts" | "asServiceAccount">,
  datastore: Datastore,
): NodeOptions {
  return {
    environment: process.env,
    name: flags.node,
    facts: flags.facts,
    account: flags.asServiceAccount,
    datastore,
    nowMs: systemClock.wallMs(),
    signal: AbortSignal.timeout(patienceMs),
  };
}

export function datastoreOf(
  { kubeconfig, etcd, directory }: Omit<DatastoreFlags, "node" | "facts" | "asServiceAccount">,
  environment: NodeJS.ProcessEnv,
): DatastoreOptions {
  const given = [kubeconfig, etcd, directory].filter((each) => each !== undefined).length;
  if (given > 1)
    throw new CattailError("DOCTOR_DATASTORE", {
      problem: "more than one datastore is given",
      next: "Give one of --kubeconfig, --etcd and --directory",
    });
  if (kubeconfig !== undefined) return { type: "kubernetes", kubeconfig };
  if (etcd !== undefined) return { type: "etcdv3", endpoints: etcd.split(",") };
  if (directory !== undefined) return { type: "directory", path: directory };
  return nodeDatastoreOptions(environment);
}
