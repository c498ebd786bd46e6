// A second door beside index.ts, for resources/: how stored objects are read, without the processors that make key/values of
// them. The metadata that a CR keeps in an annotation, UIDs, and Kubernetes' nodes, pods, namespaces and service accounts as
// Calico sees them.

export { splitEndpointName } from "./endpoint/workload-endpoint.ts";
export type { V3Node } from "./node/calico-node.ts";
export { isCalicoNode, kubernetesNode } from "./node/kubernetes-node.ts";
export { annotationField, ownText, parseOrUndefined, parseTextList, parseTextMap } from "./object/annotations.ts";
export { type Resource, readResource } from "./object/resource.ts";
export { translateUid } from "./object/uid.ts";
export { isPodFinished, podAllowedSources, podNetworks } from "./pod/pod-addresses.ts";
export { asksForQos, podQosControls } from "./pod/pod-qos.ts";
export { createShortSha1 } from "./pod/sha1.ts";
export { defaultAllowProfile, type SourceProfile, sourceProfile } from "./profile/namespace.ts";
