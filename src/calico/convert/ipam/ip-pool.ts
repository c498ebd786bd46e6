// IPPool to the pool that clients read. Several pools may have one CIDR: the smallest name owns it.
import { canonicalCidr } from "../../../base/lib/index.ts";
import { type IpPoolSpec, ipPoolSpec } from "../../kinds/index.ts";
import { always, FieldError, goBool, goList, goString, goStruct, keyToPath, omitEmpty } from "../../model/index.ts";
import { createConflictProcessor } from "../processor/conflict-processor.ts";
import type { Processor } from "../processor/processor.ts";

type V1IpPool = {
  readonly cidr: string;
  readonly ipip: string;
  readonly ipip_mode: string;
  readonly vxlan_mode: string;
  readonly masquerade: boolean;
  readonly ipam: boolean;
  readonly disabled: boolean;
  readonly disableBGPExport: boolean;
  readonly assignment_mode: string;
  readonly allowed_uses: readonly string[];
};

const v1IpPool = goStruct<V1IpPool>({
  cidr: always(goString),
  ipip: always(goString),
  ipip_mode: always(goString),
  vxlan_mode: always(goString),
  masquerade: always(goBool),
  ipam: always(goBool),
  disabled: always(goBool),
  disableBGPExport: always(goBool),
  assignment_mode: always(goString),
  allowed_uses: omitEmpty(goList(goString)),
});

export function createIpPoolProcessor(): Processor {
  return createConflictProcessor({
    kind: "IPPool",
    schema: ipPoolSpec,
    owner: "first",
    convert: ({ spec }) => {
      const network = canonicalCidr(spec.cidr ?? "");
      const path = network && keyToPath({ is: "IpPool", cidr: network.text });
      if (network === undefined || path === undefined) throw new FieldError("spec.cidr", "must be a CIDR");
      return { path, converted: { is: "value", value: v1IpPool.write(toV1(spec, network.text)) } };
    },
  });
}

function toV1(spec: IpPoolSpec, cidr: string): V1IpPool {
  const ipipMode = encapsulation(spec.ipipMode);
  return {
    cidr,
    ipip: ipipMode === "" ? "" : "tunl0",
    ipip_mode: ipipMode,
    vxlan_mode: encapsulation(spec.vxlanMode),
    masquerade: spec.natOutgoing ?? false,
    ipam: !spec.disabled,
    disabled: spec.disabled ?? false,
    disableBGPExport: spec.disableBGPExport ?? false,
    assignment_mode: spec.assignmentMode ?? "Automatic",
    allowed_uses: spec.allowedUses ?? [],
  };
}

function encapsulation(mode: string | undefined): string {
  if (mode === "Always") return "always";
  return mode === "CrossSubnet" ? "cross-subnet" : "";
}
