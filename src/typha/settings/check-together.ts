// What no setting can say of itself: sets that must be complete, values that follow from others, and combinations that
// cannot have been meant.
import type { CheckedSettings, GivenSettings } from "../../base/config/index.ts";
import { soundPongTimeoutMs } from "./pong-timeout.ts";
import { type SettingName, settingsTable } from "./table.ts";

type Given = GivenSettings<typeof settingsTable>;

export function checkTogether(asked: Given): CheckedSettings<typeof settingsTable> {
  const problems: string[] = [];
  const warnings: string[] = [];
  checkTls(asked, problems);
  checkMetricsTls(asked, problems);
  checkDatastore(asked, { problems, warnings });
  const settings = { ...asked.settings, serverPongTimeoutMs: soundPongTimeoutMs(asked.settings) };
  return { settings, problems, warnings };
}

/**
 * The variables about the Kubernetes API are everybody's, proxies above all: one that nothing here asks for must not keep
 * a server from starting. The original, too, reads them only for its Kubernetes datastore.
 */
export function whyUnused(name: SettingName, { settings, wrong }: Given): string | undefined {
  if (settingsTable[name].group !== "kubernetes" || wrong.has("datastoreType")) return undefined;
  const { datastoreType, connectionRebalancingMode } = settings;
  const isRebalancedBesideEtcd = datastoreType === "etcdv3" && connectionRebalancingMode === "kubernetes";
  return datastoreType === "kubernetes" || isRebalancedBesideEtcd ? undefined : `the datastore is ${datastoreType}`;
}

// Plaintext is served only to those who asked for nothing at all: half a set of TLS settings is a slip, and serving
// without TLS because of it would hand the cluster's policies to anyone.
function checkTls(asked: Given, problems: string[]): void {
  const files = ["serverKeyFile", "serverCertFile", "caFile"] as const;
  const identities = ["clientCn", "clientUriSan"] as const;
  const given = [...files, ...identities].filter((name) => !isMissing(asked, name));
  if (given.length === 0) return;
  const missing = files.filter((name) => isMissing(asked, name)).map(envOf);
  if (identities.every((name) => isMissing(asked, name))) missing.push(identities.map(envOf).join(" or "));
  if (missing.length === 0) return;
  problems.push(
    `TLS is only partly set up: ${given.map(envOf).join(", ")} ${given.length === 1 ? "is" : "are"} set, but missing: ${missing.join(", ")}. ` +
      "Set them too, or none of them to serve without TLS",
  );
}

function checkMetricsTls(asked: Given, problems: string[]): void {
  const pair = ["prometheusMetricsCertFile", "prometheusMetricsKeyFile"] as const;
  if (pair.every((name) => isMissing(asked, name))) return;
  const needsCa = /Verify/.test(asked.settings.prometheusMetricsClientAuth);
  const needed = needsCa ? ([...pair, "prometheusMetricsCaFile"] as const) : pair;
  const missing = needed.filter((name) => isMissing(asked, name));
  if (missing.length > 0)
    problems.push(`HTTPS for the metrics is only partly set up, missing: ${missing.map(envOf).join(", ")}`);
}

function checkDatastore(asked: Given, to: { problems: string[]; warnings: string[] }): void {
  const { environment } = asked;
  const { datastoreType } = asked.settings;
  if (datastoreType === "etcdv3" && isMissing(asked, "etcdEndpoints")) {
    const missing = (["etcdScheme", "etcdAddr"] as const).filter((name) => isMissing(asked, name)).map(envOf);
    if (missing.length > 0) {
      to.problems.push(
        `the datastore is etcdv3 and TYPHA_ETCDENDPOINTS is not set, so it needs ${missing.join(" and ")}`,
      );
    }
    const ignored = ["CALICO_ETCD_ENDPOINTS", "ETCD_ENDPOINTS"].find((name) => (environment[name] ?? "") !== "");
    if (ignored !== undefined) {
      to.warnings.push(`${ignored} has no effect here; to use its etcd, set TYPHA_ETCDENDPOINTS to the same value`);
    }
  }
  if (datastoreType === "directory" && isMissing(asked, "datastoreDirectory")) {
    to.problems.push("the datastore is directory, so it needs TYPHA_DATASTOREDIRECTORY, the folder to read");
  }
  const generic = environment.CALICO_DATASTORE_TYPE ?? environment.DATASTORE_TYPE ?? "";
  if (generic !== "" && generic.toLowerCase() !== datastoreType) {
    to.warnings.push(
      `DATASTORE_TYPE is ${JSON.stringify(generic)} and has no effect here; TYPHA_DATASTORETYPE decides (${datastoreType})`,
    );
  }
}

/** One that was given and is wrong is not missing: that it has no value is a consequence, and was said. */
function isMissing({ settings, wrong }: Given, name: SettingName): boolean {
  const value = settings[name];
  return !wrong.has(name) && (value === "" || (Array.isArray(value) && value.length === 0));
}

function envOf(name: SettingName): string {
  return settingsTable[name].env[0] ?? name;
}
