// Services and endpoint slices: passed on whole, for Felix' service rules and its eBPF data plane.
import type { JsonRecord } from "../../../base/lib/index.ts";
import { endpointSliceBody, serviceSpec, serviceStatus } from "../../kinds/index.ts";
import { cleanJson, member, readSchema } from "../../model/index.ts";
import { readMetadata } from "../object/kubernetes-metadata.ts";
import type { Processor } from "../processor/processor.ts";
import { createWholeObjectProcessor, type WholeObject, writeObject } from "../processor/whole-object.ts";

export function createServiceProcessor(): Processor {
  return createWholeObjectProcessor({ kind: "Service", resourceKind: "KubernetesService", read: readService });
}

export function createEndpointSliceProcessor(): Processor {
  const kinds = { kind: "EndpointSlice", resourceKind: "KubernetesEndpointSlice" } as const;
  return createWholeObjectProcessor({ ...kinds, read: readEndpointSlice });
}

function readService(object: JsonRecord): WholeObject {
  const metadata = readMetadata(object);
  const spec = readSchema(serviceSpec, cleanJson(member(object, "spec") ?? {}, "spec"), "spec");
  const status = readSchema(serviceStatus, cleanJson(member(object, "status") ?? {}, "status"), "status");
  const members = { spec: serviceSpec.go.write(spec), status: serviceStatus.go.write(status) };
  return { metadata, value: writeObject(metadata, members) };
}

function readEndpointSlice(object: JsonRecord): WholeObject {
  const metadata = readMetadata(object);
  const { addressType, endpoints, ports } = object;
  const body = readSchema(endpointSliceBody, cleanJson({ addressType, endpoints, ports }), "");
  // The members stand beside the metadata, not in a spec: the braces go.
  const members = endpointSliceBody.go.write(body).slice(1);
  return { metadata, value: `${writeObject(metadata, {}).slice(0, -1)},${members}` };
}
