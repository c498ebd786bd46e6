// What the part is told at its start, and the variables that usually say it.
import { join } from "node:path";
import type { BgpSettings } from "../model/compute.ts";

export type BirdPartOptions = {
  /** Where bird.cfg (and bird6.cfg) are written. */
  readonly folder: string;
  readonly socket: string;
  /** Of the second daemon of BIRD 1.6. */
  readonly socket6: string;
  /** BIRD's programs: names in PATH, or paths. */
  readonly program: string;
  readonly program6: string;
  readonly path: string;
  /** Where Secrets with passwords are. */
  readonly namespace: string;
  readonly endpointStatusFolder: string;
  readonly bgp: Omit<BgpSettings, "agentProtocol" | "canTunnel" | "kubernetesNode"> & {
    readonly kubernetesNode: string | undefined;
  };
  /** BIRD is started and kept running, unless one answers already. */
  readonly supervises: boolean;
};

type Environment = { readonly [name: string]: string | undefined };

/** As the original's confd and the test runners name them; CATTAIL_* are ours. */
export function birdOptions(env: Environment, given: { readonly supervises: boolean }): BirdPartOptions {
  const runFolder = env.CALICO_ENDPOINT_STATUS_PATH_PREFIX || "/var/run/calico";
  const ranges = env.CALICO_ADVERTISE_CLUSTER_IPS;
  return {
    folder: env.BIRD_CONFIG_DIR || "/etc/calico/confd/config",
    socket: env.BIRD_CTL || "/var/run/calico/bird.ctl",
    socket6: env.BIRD6_CTL || "/var/run/calico/bird6.ctl",
    program: env.CATTAIL_BIRD || "bird",
    program6: env.CATTAIL_BIRD6 || "bird6",
    path: env.PATH ?? "",
    namespace: env.NAMESPACE || "kube-system",
    endpointStatusFolder: join(runFolder, "endpoint-status"),
    bgp: {
      routerId: env.CALICO_ROUTER_ID || undefined,
      advertisedClusterIps: ranges ? ranges.split(",").filter((each) => each.trim() !== "") : undefined,
      kubernetesNode: env.CALICO_K8S_NODE_REF || undefined,
      usesPodCidr: /^(?:1|t|true)$/i.test(env.CALICO_USE_POD_CIDR || env.USE_POD_CIDR || ""),
    },
    ...given,
  };
}
