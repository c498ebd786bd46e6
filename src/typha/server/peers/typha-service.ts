// The servers of this cluster, as the EndpointSlices of the Typha service tell: how many there are, for sharing the
// clients among them, and which of them could take ours over. Fed by the slices that the felix syncer sends anyway, so
// it costs the API server nothing.
import { type Endpoint, endpointsOf, serviceOf } from "../../../base/kube/index.ts";
import { parseJson } from "../../../base/lib/index.ts";
import type { KvUpdate, SyncerBatch } from "../../../calico/model/index.ts";

export type TyphaServiceName = { readonly namespace: string; readonly name: string; readonly portName: string };

const slices = "/calico/resources/v3/projectcalico.org/kubernetesendpointslices/";

export function slicePath({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${slices}${namespace}/${name}`;
}

export class TyphaService {
  readonly #name: TyphaServiceName;
  readonly #prefix: string;
  readonly #bySlice = new Map<string, readonly Endpoint[]>();

  constructor(name: TyphaServiceName) {
    this.#name = name;
    this.#prefix = `${slices}${name.namespace}/`;
  }

  /** The same batches; the service's slices are among them. */
  async *tap(batches: AsyncIterable<SyncerBatch>): AsyncGenerator<SyncerBatch> {
    for await (const batch of batches) {
      if (batch.syncer === "felix") this.apply(batch.updates);
      yield batch;
    }
  }

  apply(updates: readonly KvUpdate[]): void {
    for (const { path, value } of updates) {
      if (!path.startsWith(this.#prefix)) continue;
      const addresses = value === undefined ? undefined : addressesOf(value, this.#name);
      if (addresses === undefined) this.#bySlice.delete(path);
      else this.#bySlice.set(path, addresses);
    }
  }

  /** Distinct addresses, ready or not, as the original counts them. Undefined: no slice of the service is known. */
  get serverCount(): number | undefined {
    if (this.#bySlice.size === 0) return undefined;
    return new Set(this.peers().map(({ host }) => host)).size;
  }

  peers(): Endpoint[] {
    return [...this.#bySlice.values()].flat();
  }
}

/** Undefined: not a slice of the service, or not one with its port. */
function addressesOf(value: string, name: TyphaServiceName): readonly Endpoint[] | undefined {
  const slice = parseJson(value);
  return serviceOf(slice) === name.name ? endpointsOf(slice, name.portName) : undefined;
}
