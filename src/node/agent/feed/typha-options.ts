// Where the Typhas are that a data set comes from: FELIX_TYPHA* of environment and file, and for BIRD's data CONFD_TYPHA* before and
// CALICO_TYPHA* after them, as confd has it.
import { type FollowOptions, optionsFromEnvironment } from "../../../typha/client/index.ts";
import type { DataSet } from "../../part/index.ts";
import { felixSettings, type NodeLiveSettings, type SettingName } from "../../settings/index.ts";

const names = [
  "TyphaAddr",
  "TyphaK8sServiceName",
  "TyphaK8sNamespace",
  "TyphaReadTimeout",
  "TyphaWriteTimeout",
  "TyphaKeyFile",
  "TyphaCertFile",
  "TyphaCAFile",
  "TyphaCN",
  "TyphaURISAN",
] as const satisfies readonly SettingName[];

const prefixes: { readonly [S in DataSet]: readonly string[] } = {
  felix: ["FELIX_"],
  bgp: ["CONFD_", "FELIX_", "CALICO_"],
};

type TyphaOptions = Pick<FollowOptions, "servers" | "tls" | "readTimeoutMs" | "writeTimeoutMs">;

/** Undefined: no Typha is set. Throws CLIENT_TLS_INCOMPLETE. */
export function typhaOptions(
  set: DataSet,
  of: {
    readonly node: string;
    readonly environment: { readonly [name: string]: string | undefined };
    readonly settings: NodeLiveSettings;
  },
): TyphaOptions | undefined {
  const settings = felixSettings(of.settings);
  const felix = names.map((name) => {
    const value = settings.value(name);
    return [`FELIX_${name.toUpperCase()}`, typeof value === "number" ? `${value / 1000}` : value] as const;
  });
  const environment = { ...of.environment, ...Object.fromEntries(felix), NODENAME: of.node };
  const { servers, ...others } = optionsFromEnvironment(environment, prefixes[set]);
  return servers === undefined ? undefined : { ...others, servers };
}
