// Kubernetes' EndpointSlice, with the field order of its Go type: Felix gets it whole.
import {
  flag,
  int32,
  integer,
  kept,
  lazy,
  list,
  map,
  optional,
  type SchemaType,
  struct,
  text,
} from "../../model/index.ts";
import { servedKind } from "../kind.ts";

const hints = lazy(() =>
  struct({
    forZones: list(struct({ name: kept(text()) })),
    forNodes: list(struct({ name: kept(text()) })),
  }),
);

const objectReference = lazy(() =>
  struct({
    kind: text(),
    namespace: text(),
    name: text(),
    uid: text(),
    apiVersion: text(),
    resourceVersion: text(),
    fieldPath: text(),
  }),
);

const endpoint = lazy(() =>
  struct({
    addresses: kept(list(text())),
    conditions: kept(struct({ ready: optional(flag()), serving: optional(flag()), terminating: optional(flag()) })),
    hostname: optional(text()),
    targetRef: optional(objectReference),
    deprecatedTopology: map(text()),
    nodeName: optional(text()),
    zone: optional(text()),
    hints: optional(hints),
  }),
);

/** What follows the metadata. */
export const endpointSliceBody = lazy(() =>
  struct({
    addressType: kept(text()),
    endpoints: kept(list(endpoint)),
    ports: kept(
      list(
        struct({
          name: optional(text()),
          protocol: optional(text()),
          port: optional(integer(int32)),
          appProtocol: optional(text()),
        }),
      ),
    ),
  }),
);
export type EndpointSliceBody = SchemaType<typeof endpointSliceBody>;

export const endpointSlice = servedKind("discovery.k8s.io/v1/endpointslices", "namespaced", {
  carries: "optional",
  rights: { node: ["list", "watch"] },
});
