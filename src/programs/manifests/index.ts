// The YAML of an installation as values: pure, from the table of kinds, the schemas and a few options.
import { cniManifests } from "./cni.ts";
import { crdManifests } from "./crds.ts";
import { namespaceManifests } from "./namespace.ts";
import { nodeManifests } from "./node.ts";
import type { InstallOptions, Manifest, NodeInstallOptions } from "./options.ts";
import { rbacManifests } from "./rbac.ts";
import { serviceMonitor, workloadManifests } from "./workload.ts";

export {
  besideOperator,
  type CertificateSource,
  defaultInstallOptions,
  defaultNodeOptions,
  type InstallOptions,
  type Manifest,
  type NodeInstallOptions,
} from "./options.ts";

export const manifestSets = ["typha", "rbac", "crds", "cni", "node", "all"] as const;
export type ManifestSet = (typeof manifestSets)[number];

/** In the order in which they have to be applied. `crds`: only those of these kinds; `node`: undefined where nodes run something else. */
export function manifests(
  set: ManifestSet,
  options: InstallOptions & {
    serviceMonitor: boolean;
    crds?: readonly string[];
    node?: NodeInstallOptions | undefined;
    /** Of the plugin's client certificate. */
    cniUser?: string | undefined;
  },
): Manifest[] {
  const has = (part: ManifestSet) => set === part || set === "all";
  return [
    ...(has("crds") ? crdManifests(options, options.crds) : []),
    ...(has("rbac") || has("typha") ? namespaceManifests(options) : []),
    ...(has("rbac") ? rbacManifests(options) : []),
    ...(has("typha") ? workloadManifests(options) : []),
    ...(has("typha") && options.serviceMonitor ? [serviceMonitor(options)] : []),
    ...(set === "cni" || (has("node") && options.node !== undefined)
      ? cniManifests({ ...options, user: options.cniUser })
      : []),
    ...(has("node") && options.node !== undefined ? nodeManifests(options.node) : []),
  ];
}
