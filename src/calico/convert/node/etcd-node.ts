// Nodes as etcd stores them: Calico's own already.
import { nodeSpec, nodeStatus, readSchema } from "../../model/index.ts";
import { readResource } from "../object/resource.ts";
import type { Processor } from "../processor/processor.ts";
import { createNodeProcessorOf } from "./node-processor.ts";

export function createStoredNodeProcessor(): Processor {
  return createNodeProcessorOf({
    usePodCidr: false,
    read: (id, value) => {
      const { metadata, spec, status } = readResource("Node", nodeSpec, value);
      const named = { ...metadata, name: id.name };
      return { value: { metadata: named, spec, status: readSchema(nodeStatus, status ?? {}, "status") }, warnings: [] };
    },
  });
}
