// From Typha's settings to the datastore they name, as whoever opens it wants to be told.
import { CattailError, unreachable } from "../../base/lib/index.ts";
import type { DatastoreOptions, KubernetesSettings } from "../../calico/datastore/index.ts";
import type { Settings } from "./table.ts";

export function datastoreOptions(settings: Settings): DatastoreOptions {
  const { datastoreType: type } = settings;
  switch (type) {
    case "kubernetes":
      return { type, ...kubernetesSettings(settings) };
    case "etcdv3":
      return { type, ...etcdSettings(settings) };
    case "directory":
      if (settings.datastoreDirectory === "") throw noDirectory();
      return { type, path: settings.datastoreDirectory };
    case "memory":
      return { type };
    default:
      return unreachable(type);
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
