// Settings as the server would read them: what is wrong, what has no effect, and whether TLS was forgotten.
import { type Environment, loadSettings, type Settings } from "../../base/config/index.ts";
import { CattailError } from "../../base/lib/index.ts";
import { tlsPolicy } from "../../base/security/index.ts";
import { type Finding, passed, problem, type Section } from "./finding.ts";

export type CheckedSettings = { readonly section: Section; readonly settings?: Settings };

/** Without `settings` there is nothing to go on with: the server would not start either. */
export function checkSettings(options: { environment: Environment; configFile?: string }): CheckedSettings {
  const name = "settings";
  try {
    const { values: settings, origins, warnings } = loadSettings(options);
    if (settings.serverCertFile !== "" || hasMetricsTls(settings))
      tlsPolicy({ minVersion: settings.tlsMinVersion, cipherSuites: settings.tlsCipherSuites });
    const given = [...origins.values()].filter(({ from }) => from !== "default").length;
    const findings: Finding[] = [
      passed(
        `${given} ${given === 1 ? "setting" : "settings"} given, none of them wrong; the datastore is ${settings.datastoreType}`,
      ),
      ...warnings.map((warning) => problem("SETTINGS_WARNING", warning)),
    ];
    if (settings.serverCertFile === "") {
      findings.push(problem("SETTINGS_PLAINTEXT", "no TLS setting is given, so clients connect without TLS"));
    }
    return { section: { name, findings }, settings };
  } catch (error) {
    if (!(error instanceof CattailError)) throw error;
    const code = error.code === "SETTINGS_FILE_UNREADABLE" ? "SETTINGS_FILE_UNREADABLE" : "SETTINGS_INVALID";
    return { section: { name, findings: [problem(code, error.problem)] } };
  }
}

/** The metrics are served, and over HTTPS. */
export function hasMetricsTls(settings: Settings): boolean {
  return settings.prometheusMetricsEnabled && settings.prometheusMetricsCertFile !== "";
}
