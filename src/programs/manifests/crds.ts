// Calico's custom resource definitions, made from the same schemas that read the objects.
import { crdManifest, customKinds } from "../../calico/kinds/index.ts";
import type { InstallOptions, Manifest } from "./options.ts";

export function crdManifests({ apiGroup }: InstallOptions): Manifest[] {
  return customKinds.map((kind) => crdManifest(kind, apiGroup));
}
