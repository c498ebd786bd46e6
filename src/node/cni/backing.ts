// What stands behind a call of the plugins: the datastore, the cluster, address management, and the host's lock. Opened for one call by a
// program that a runtime starts, or lent by a program that stays (resident/), which has it all open.
import { constants, existsSync } from "node:fs";
import { access } from "node:fs/promises";
import type { Clock } from "../../base/lib/index.ts";
import { messageOf, silentLog } from "../../base/lib/index.ts";
import { errnoOf } from "../../base/linux/files.ts";
import { type Datastore, type DatastoreOptions, openDatastore } from "../../calico/datastore/index.ts";
import { type Ipam, openIpam, openIpamAccess } from "../../calico/ipam-client/index.ts";
import { openResources, type Resources } from "../../calico/resources/index.ts";
import { mustBeReady } from "../endpoints/index.ts";
import type { NetworkConfiguration } from "./configuration.ts";
import { withBlockingLock } from "./host-lock.ts";
import { withTimeLimit } from "./limited-datastore.ts";
import { CniError, cniErrorCodes } from "./protocol/cni-error.ts";

type EtcdFiles = Extract<DatastoreOptions, { readonly type: "etcdv3" }>["tls"];

export type Labels = { readonly [name: string]: string };

export type Backed = AsyncDisposable & {
  readonly datastore: Datastore;
  readonly resources: Resources;
  /** Where pods, namespaces and nodes are read: the same datastore, or a cluster beside etcd. */
  cluster(): Promise<Datastore>;
  readonly ipam: Ipam;
  /** Throws EndpointError where a flag says that nothing may be done now. */
  mustBeReady(): Promise<void>;
  /** Of a namespace; nothing is read where nobody asks for them. */
  namespaceLabels(read: () => Promise<Labels>): Promise<Labels>;
  /** One call of this host at a time, whichever program it is; the signal ends what takes too long. */
  locked<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
};

export type Backing = { open(configuration: NetworkConfiguration): Promise<Backed> };

export type BackingEdge = {
  readonly clock: Clock;
  readonly random: () => number;
  /** For what is no reason to fail. */
  readonly warn: (text: string) => void;
};

/** Opened anew for each call, and closed after it. */
export function freshBacking({ clock, random, warn }: BackingEdge): Backing {
  return {
    async open(configuration) {
      await using opening = new AsyncDisposableStack();
      const datastore = withTimeLimit(opening.use(await openClient(configuration, clock)));
      const edge = { clock, random };
      const resources = openResources(datastore, { clock });
      const opened = opening.move();
      let cluster: Promise<Datastore> | undefined;
      return {
        datastore,
        resources,
        cluster() {
          if (datastore.flavour === "kubernetes") return Promise.resolve(datastore);
          cluster ??= openCluster(configuration, clock).then((each) => withTimeLimit(opened.use(each)));
          return cluster;
        },
        ipam: openIpam(openIpamAccess(datastore, edge), edge),
        mustBeReady: () => mustBeReady(resources),
        namespaceLabels: (read) => read(),
        locked: (work) => withBlockingLock(configuration.lockFile, warn, work),
        [Symbol.asyncDispose]: () => opened.disposeAsync(),
      };
    },
  };
}

async function openClient(configuration: NetworkConfiguration, clock: Clock): Promise<Datastore> {
  try {
    const options = configuration.datastore();
    if (options.type === "etcdv3") await mustBeReadable(options.tls);
    if (options.type === "kubernetes") mustBeThere(options);
    return await openDatastore(options, { clock, log: silentLog });
  } catch (error) {
    if (error instanceof CniError) throw error;
    const { problem } = error as { readonly problem?: unknown }; // a CattailError's message has the advice in it
    const why = typeof problem === "string" ? problem : messageOf(error);
    throw new CniError(cniErrorCodes.other, why, { cause: error });
  }
}

/** One alone: in a list of files some may be missing. */
function mustBeThere({ kubeconfig = "" }: { readonly kubeconfig?: string }): void {
  if (!kubeconfig.startsWith("/") || kubeconfig.includes(":") || existsSync(kubeconfig)) return;
  throw new CniError(cniErrorCodes.other, `stat ${kubeconfig}: no such file or directory`);
}

/** As the original, which reads them even where etcd is asked without TLS: a path that is wrong is found before it is needed. */
async function mustBeReadable({ certFile, keyFile, caFile }: EtcdFiles = {}): Promise<void> {
  if ((certFile === undefined) !== (keyFile === undefined)) {
    const seen = `[key: ${keyFile ?? ""}, cert: ${certFile ?? ""}]`;
    const why = `could not initialize etcdv3 client: KeyFile and CertFile must both be present${seen}`;
    throw new CniError(cniErrorCodes.other, why);
  }
  for (const file of [certFile, keyFile, caFile]) {
    if (file === undefined) continue;
    try {
      await access(file, constants.R_OK);
    } catch (error) {
      const why = errnoOf(error) === "ENOENT" ? "no such file or directory" : "permission denied";
      const message = `could not initialize etcdv3 client: open ${file}: ${why}`;
      throw new CniError(cniErrorCodes.other, message, { cause: error });
    }
  }
}

export async function openCluster({ kubernetes }: NetworkConfiguration, clock: Clock): Promise<Datastore> {
  if (kubernetes === undefined) {
    throw new CniError(cniErrorCodes.other, "pods are to be read, and the configuration has no kubernetes.kubeconfig", {
      details: "set kubernetes.kubeconfig in the network configuration to a file that may read pods and namespaces",
    });
  }
  mustBeThere(kubernetes);
  return await openDatastore({ type: "kubernetes", ...kubernetes }, { clock, log: silentLog });
}
