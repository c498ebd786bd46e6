// Calico's custom resource definitions, made from the same schemas that read the objects.
import { crdManifest, customKinds } from "../../calico/kinds/index.ts";
import type { InstallOptions, Manifest } from "./options.ts";

/** Of the kinds that are named, or of all. */
export function crdManifests({ apiGroup }: InstallOptions, kinds: readonly string[] = customKinds): Manifest[] {
  return customKinds.filter((kind) => kinds.includes(kind)).map((kind) => crdManifest(kind, apiGroup));
}
