// Calico's custom resource definitions, made from the same schemas that read the objects.
import { crdManifest, v3KindNames } from "../../calico/model/index.ts";
import type { InstallOptions, Manifest } from "./options.ts";

export function crdManifests({ apiGroup }: InstallOptions): Manifest[] {
  return v3KindNames.map((kind) => crdManifest(kind, apiGroup));
}
