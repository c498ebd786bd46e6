// One call of the IPAM plugin, and what stands behind it.
import type { Backed } from "../backing.ts";
import type { NetworkConfiguration } from "../configuration.ts";
import type { PluginOptions } from "../options.ts";
import type { PluginCall } from "../protocol/call.ts";

export type IpamCall = {
  readonly options: PluginOptions;
  readonly call: PluginCall;
  readonly configuration: NetworkConfiguration;
  readonly backed: Backed;
};
