// The YAML of an installation as values: pure, from the table of kinds, the schemas and a few options.
import { crdManifests } from "./crds.ts";
import { namespaceManifests } from "./namespace.ts";
import type { InstallOptions, Manifest } from "./options.ts";
import { rbacManifests } from "./rbac.ts";
import { serviceMonitor, workloadManifests } from "./workload.ts";

export {
  besideOperator,
  type CertificateSource,
  defaultInstallOptions,
  type InstallOptions,
  type Manifest,
} from "./options.ts";

export const manifestSets = ["typha", "rbac", "crds", "all"] as const;
export type ManifestSet = (typeof manifestSets)[number];

/** In the order in which they have to be applied. `crds`: only those of these kinds. */
export function manifests(
  set: ManifestSet,
  options: InstallOptions & { serviceMonitor: boolean; crds?: readonly string[] },
): Manifest[] {
  const has = (part: ManifestSet) => set === part || set === "all";
  return [
    ...(has("crds") ? crdManifests(options, options.crds) : []),
    ...(has("rbac") || has("typha") ? namespaceManifests(options) : []),
    ...(has("rbac") ? rbacManifests(options) : []),
    ...(has("typha") ? workloadManifests(options) : []),
    ...(has("typha") && options.serviceMonitor ? [serviceMonitor(options)] : []),
  ];
}
