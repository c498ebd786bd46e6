// From settings to the datastore they name. A datastore that is not there yet is no reason to fail: connections are made
// when first used, and followers try again. What can never work (an unreadable key, a bad kubeconfig) throws.

import { CattailError, type Clock, type Log, unreachable } from "../../base/lib/index.ts";
import {
  createMemoryDatastore,
  type Datastore,
  type KubernetesSettings,
  openDirectoryDatastore,
  openEtcdDatastore,
  openKubernetes,
} from "../../calico/datastore/index.ts";
import type { Settings } from "../settings/index.ts";

export type Edge = { readonly clock: Clock; readonly log: Log };

export async function openDatastore(settings: Settings, edge: Edge): Promise<Datastore> {
  switch (settings.datastoreType) {
    case "kubernetes":
      return openKubernetes(kubernetesSettings(settings), edge);
    case "etcdv3":
      return openEtcdDatastore({ ...etcdSettings(settings), ...edge });
    case "directory":
      if (settings.datastoreDirectory === "") throw noDirectory();
      return openDirectoryDatastore({ path: settings.datastoreDirectory, ...edge });
    case "memory":
      return createMemoryDatastore(edge);
    default:
      return unreachable(settings.datastoreType);
  }
}

/** Also for looking at the Typha service where the objects themselves are in etcd. */
export function kubernetesSettings(settings: Settings): KubernetesSettings {
  return {
    kubeconfig: settings.kubeconfig,
    apiEndpoint: settings.k8sApiEndpoint,
    keyFile: settings.k8sKeyFile,
    certFile: settings.k8sCertFile,
    caFile: settings.k8sCaFile,
    currentContext: settings.k8sCurrentContext,
    apiToken: settings.k8sApiToken,
    insecureSkipTlsVerify: settings.k8sInsecureSkipTlsVerify,
    apiGroup: settings.calicoApiGroup,
    ...(settings.k8sClientQps === 0 ? {} : { clientQps: settings.k8sClientQps }), // below 0: no limit
    ...(settings.k8sClientBurst > 0 ? { clientBurst: settings.k8sClientBurst } : {}),
    httpsProxy: settings.httpsProxy,
    httpProxy: settings.httpProxy,
    noProxy: settings.noProxy,
    // Whoever names a kubeconfig has asked for what it runs and goes through, as with kubectl.
    allowExec: settings.kubeconfig !== "",
    allowProxy: settings.kubeconfig !== "",
  };
}

function etcdSettings(settings: Settings) {
  const { etcdEndpoints, etcdScheme, etcdAddr, etcdUsername, etcdPassword } = settings;
  const { etcdCaFile, etcdCertFile, etcdKeyFile } = settings;
  return {
    endpoints: etcdEndpoints.length > 0 ? etcdEndpoints : [`${etcdScheme}://${etcdAddr}`],
    tls: {
      ...(etcdCaFile === "" ? {} : { caFile: etcdCaFile }),
      ...(etcdCertFile === "" ? {} : { certFile: etcdCertFile }),
      ...(etcdKeyFile === "" ? {} : { keyFile: etcdKeyFile }),
    },
    ...(etcdUsername === "" ? {} : { auth: { username: etcdUsername, password: etcdPassword } }),
  };
}

function noDirectory(): CattailError {
  return new CattailError("SETTINGS_NO_DIRECTORY", {
    problem: "TYPHA_DATASTORETYPE is directory, but TYPHA_DATASTOREDIRECTORY is not set",
    next: "Set TYPHA_DATASTOREDIRECTORY to the folder with the YAML files",
  });
}
