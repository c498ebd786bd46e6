// FelixConfiguration: the settings of Felix, of all nodes or of one.
import { nameCell } from "../columns.ts";
import { followedResource, forSpec, type SpecObject, specChecks } from "../kind.ts";
import { felixChecks } from "./felix-checks.ts";
import { type FelixConfigurationSpec, felixConfigurationRules, felixConfigurationSpec } from "./felix-fields.ts";

/** How connections are balanced at connect time was once a switch, which still decides where it is set. */
function fill({ metadata, spec }: SpecObject<FelixConfigurationSpec>): SpecObject<FelixConfigurationSpec> {
  const { bpfConnectTimeLoadBalancingEnabled: isOn } = spec;
  const balancing =
    isOn === undefined
      ? {
          bpfConnectTimeLoadBalancing: spec.bpfConnectTimeLoadBalancing ?? "TCP",
          bpfHostNetworkedNATWithoutCTLB: spec.bpfHostNetworkedNATWithoutCTLB ?? "Enabled",
        }
      : { bpfConnectTimeLoadBalancing: isOn ? "Enabled" : "Disabled", bpfHostNetworkedNATWithoutCTLB: "Disabled" };
  return { metadata, spec: { ...spec, floatingIPs: spec.floatingIPs ?? "Disabled", ...balancing } };
}

export const felixConfiguration = followedResource("FelixConfiguration", {
  carries: "enforcement",
  names: ["felixconfiguration", "felixconfigurations", "felixconfig", "felixconfigs"],
  columns: { ps: [nameCell] },
  rights: { node: ["get", "list", "watch", "create", "update"] },
  schema: { spec: felixConfigurationSpec, crd: felixConfigurationRules },
  fill: forSpec(fill),
  checks: specChecks(felixChecks),
});
