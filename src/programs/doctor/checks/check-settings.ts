// Settings as the server would read them: what is wrong, what has no effect, and whether TLS was forgotten.

import { CattailError } from "../../../base/lib/index.ts";
import { tlsPolicy } from "../../../base/security/index.ts";
import { type Environment, loadSettings, type Settings } from "../../../typha/settings/index.ts";
import { type Finding, passed, problem, type Section } from "../finding.ts";

export type CheckedSettings = {
  readonly section: Section;
  readonly settings?: Settings;
  /** Somebody said where the objects are: the server's own default is an etcd on this machine, which nobody has. */
  readonly isDatastoreNamed?: boolean;
};

/** Each of them says where the objects are. A kubeconfig does not: many a shell has one, and the server may use etcd. */
const datastoreSettings: readonly (keyof Settings)[] = ["datastoreType", "etcdEndpoints", "etcdAddr"];

/** Without `settings` there is nothing to go on with: the server would not start either. */
export function checkSettings(options: { environment: Environment; configFile?: string }): CheckedSettings {
  const name = "settings";
  try {
    const { values: settings, origins, warnings } = loadSettings(options);
    if (settings.serverCertFile !== "" || hasMetricsTls(settings))
      tlsPolicy({ minVersion: settings.tlsMinVersion, cipherSuites: settings.tlsCipherSuites });
    const isGiven = (name: keyof Settings) => (origins.get(name)?.from ?? "default") !== "default";
    const given = [...origins.keys()].filter(isGiven).length;
    const isDatastoreNamed = datastoreSettings.some(isGiven);
    if (given === 0) return { section: { name, findings: [nothingConfigured()] } };
    const findings: Finding[] = [
      passed(
        `${given} ${given === 1 ? "setting" : "settings"} given, none of them wrong${isDatastoreNamed ? `; the datastore is ${settings.datastoreType}` : ""}`,
      ),
      ...warnings.map((warning) => problem("SETTINGS_WARNING", warning)),
    ];
    if (settings.serverCertFile === "") {
      findings.push(problem("SETTINGS_PLAINTEXT", "no TLS setting is given, so clients connect without TLS"));
    }
    if (!isDatastoreNamed) findings.push(nothingConfigured());
    return { section: { name, findings }, settings, isDatastoreNamed };
  } catch (error) {
    if (!(error instanceof CattailError)) throw error;
    const code = error.code === "SETTINGS_FILE_UNREADABLE" ? "SETTINGS_FILE_UNREADABLE" : "SETTINGS_INVALID";
    return { section: { name, findings: [problem(code, error.problem)] } };
  }
}

function nothingConfigured(): Finding {
  return problem("SETTINGS_NONE", "nothing says which datastore to use");
}

/** The metrics are served, and over HTTPS. */
export function hasMetricsTls(settings: Settings): boolean {
  return settings.prometheusMetricsEnabled && settings.prometheusMetricsCertFile !== "";
}
