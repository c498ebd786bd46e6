// Nodes of either datastore to key/values. Felix' view is the whole; the other syncers take the node itself out of it.
// The state is which nodes have which pod CIDR, and only with USE_POD_CIDR.
import { nodeSpec, nodeStatus } from "../../kinds/index.ts";
import { FieldError, readSchema } from "../../model/index.ts";
import { readResource } from "../object/resource.ts";
import { unreadable } from "../processor/keyed-processor.ts";
import {
  attempt,
  type ConvertedKv,
  deletion,
  objectName,
  type Processor,
  type ProcessorId,
  refused,
  type Warning,
} from "../processor/processor.ts";
import { felixNodeDeletions, felixNodeKvs, nodeProblem, podCidrBlocks, type V3Node } from "./calico-node.ts";

/** Throws FieldError for what is no node. */
export type NodeReader = (
  id: ProcessorId,
  value: unknown,
) => { readonly value: V3Node; readonly warnings: readonly Warning[] };

export function createNodeProcessorOf(options: { read: NodeReader; usePodCidr: boolean }): Processor {
  const blocks = new PodCidrBlocks();
  const remove = (name: string) => [...felixNodeDeletions(name), ...blocks.replace(name, [])];

  return {
    set: (id, revision, value) => {
      const object = objectName("Node", id);
      const read = attempt(() => options.read(id, value));
      if (read instanceof FieldError) return unreadable(object, remove(id.name), read);
      const problem = nodeProblem(read.value);
      const kvs = felixNodeKvs(read.value, revision, problem);
      if (options.usePodCidr) kvs.push(...blocks.replace(id.name, podCidrBlocks(read.value, revision)));
      const found = problem === undefined ? read.warnings : [...read.warnings, refused(problem)];
      return { kvs, problems: found.map((warning) => ({ object, ...warning })) };
    },
    delete: (id) => ({ kvs: remove(id.name), problems: [] }),
  };
}

/**
 * The blocks that stand for pod CIDRs. Two nodes should never share one; where they do, the last by name has it, as in the
 * original's list, and the other gets it when that node goes (the original forgets it then).
 */
class PodCidrBlocks {
  readonly #pathsByNode = new Map<string, readonly string[]>();
  readonly #claimsByPath = new Map<string, Map<string, ConvertedKv>>();

  /** Deletions of blocks that nobody has now, then the blocks that the node, or another, has instead. */
  replace(node: string, blocks: readonly ConvertedKv[]): ConvertedKv[] {
    const paths = blocks.map(({ path }) => path);
    const given = (this.#pathsByNode.get(node) ?? []).filter((path) => !paths.includes(path));
    if (paths.length === 0) this.#pathsByNode.delete(node);
    else this.#pathsByNode.set(node, paths);
    for (const path of given) this.#claimsByPath.get(path)?.delete(node);
    for (const block of blocks) this.#claimsOf(block.path).set(node, block);
    const kvs = [...given, ...paths].map((path) => this.#current(path));
    return [...kvs.filter(({ value }) => value === undefined), ...kvs.filter(({ value }) => value !== undefined)];
  }

  #claimsOf(path: string): Map<string, ConvertedKv> {
    const claims = this.#claimsByPath.get(path) ?? new Map<string, ConvertedKv>();
    this.#claimsByPath.set(path, claims);
    return claims;
  }

  #current(path: string): ConvertedKv {
    const claims = this.#claimsByPath.get(path);
    const owner = [...(claims?.keys() ?? [])].sort().at(-1);
    const block = owner === undefined ? undefined : claims?.get(owner);
    if (block === undefined) this.#claimsByPath.delete(path);
    return block ?? deletion(path);
  }
}

/** Nodes as etcd stores them: Calico's own already. */
export function createEtcdNodeProcessor(): Processor {
  return createNodeProcessorOf({ usePodCidr: false, read: readStoredNode });
}

export const readStoredNode: NodeReader = (id, value) => {
  const { metadata, spec, status } = readResource("Node", nodeSpec, value);
  const named = { ...metadata, name: id.name };
  return { value: { metadata: named, spec, status: readSchema(nodeStatus, status ?? {}, "status") }, warnings: [] };
};
