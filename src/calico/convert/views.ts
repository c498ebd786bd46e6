// A second door beside index.ts, for resources/: how stored objects are read, without the processors that make key/values of
// them. The metadata that a CR keeps in an annotation, UIDs, and Kubernetes' nodes, pods, namespaces and service accounts as
// Calico sees them.
export { annotationField, ownText, parseOrUndefined, parseTextList, parseTextMap } from "./annotations.ts";
export { defaultAllowProfile, type SourceProfile, sourceProfile } from "./namespace.ts";
export { kubernetesNode } from "./node.ts";
export { isPodFinished, podAllowedSources, podNetworks } from "./pod-addresses.ts";
export { asksForQos, podQosControls } from "./pod-qos.ts";
export { type Resource, readResource } from "./resource.ts";
export { createShortSha1 } from "./sha1.ts";
export { translateUid } from "./uid.ts";
export type { V3Node } from "./v3-node.ts";
export { splitEndpointName } from "./workload-endpoint.ts";
