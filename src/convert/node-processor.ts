// Nodes of either datastore to key/values. Felix' view is the whole; the other syncers take the node itself out of it.
// The state is the pod CIDRs announced for each node, and only with USE_POD_CIDR.
import { FieldError } from "../model/index.ts";
import { attempt } from "./attempt.ts";
import { type ConvertedKv, deletion, type Warning } from "./converted.ts";
import { objectName, type Processor, type ProcessorId } from "./processor.ts";
import { felixNodeDeletions, felixNodeKvs, nodeProblem, podCidrBlocks, type V3Node } from "./v3-node.ts";

/** Throws FieldError for what is no node. */
export type NodeReader = (
  id: ProcessorId,
  value: unknown,
) => { readonly value: V3Node; readonly warnings: readonly Warning[] };

export function createNodeProcessorOf(options: { read: NodeReader; usePodCidr: boolean }): Processor {
  const blocksByNode = new Map<string, readonly string[]>();

  /** Deletions of blocks that the node had, then the blocks that it has. */
  const replaceBlocks = (name: string, blocks: readonly ConvertedKv[]): ConvertedKv[] => {
    const paths = blocks.map(({ path }) => path);
    const gone = (blocksByNode.get(name) ?? []).filter((path) => !paths.includes(path));
    if (paths.length === 0) blocksByNode.delete(name);
    else blocksByNode.set(name, paths);
    return [...gone.map(deletion), ...blocks];
  };

  const remove = (name: string) => [...felixNodeDeletions(name), ...replaceBlocks(name, [])];

  return {
    set: (id, revision, value) => {
      const object = objectName("Node", id);
      const read = attempt(() => options.read(id, value));
      if (read instanceof FieldError) {
        const { field, rule } = read;
        return { kvs: remove(id.name), problems: [{ object, field, rule, effect: "deleted" }] };
      }
      const problem = nodeProblem(read.value);
      const kvs = felixNodeKvs(read.value, revision, problem);
      if (options.usePodCidr) kvs.push(...replaceBlocks(id.name, podCidrBlocks(read.value, revision)));
      const found = problem === undefined ? read.warnings : [...read.warnings, problem];
      return { kvs, problems: found.map((warning) => ({ object, ...warning })) };
    },
    delete: (id) => ({ kvs: remove(id.name), problems: [] }),
  };
}
