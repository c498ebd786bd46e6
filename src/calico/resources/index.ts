// v3 objects over any datastore: what users write and read, whatever keeps it.
export { type ApiKind, apiKinds, isApiKind, isNamespaced } from "./api-kinds.ts";
export { readV3, type V3Object, v3Version, writeV3 } from "./v3-object.ts";
