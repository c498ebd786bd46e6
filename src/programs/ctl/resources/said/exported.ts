// get --export: an object without what belongs to the cluster it is in, so that another cluster takes it.
import type { V3Object } from "../../../../calico/resources/index.ts";

export function exported(object: V3Object): V3Object {
  const {
    namespace: _,
    uid: __,
    resourceVersion: ___,
    creationTimestamp: ____,
    deletionTimestamp: _____,
    deletionGracePeriodSeconds: ______,
    ...metadata
  } = object.metadata;
  return { ...object, metadata };
}
