// Calico's workload endpoints where Kubernetes has pods: a view of these. Only the CNI plugin writes, and only the
// annotations that say which addresses a pod has: `annotatePod` when it has them, delete when it gave them back.
import { splitEndpointName } from "../../convert/views.ts";
import type { Datastore, StoredObject } from "../../datastore/index.ts";
import type { StringMap } from "../../model/index.ts";
import { fromPod, podAnnotationsOf, releasedPodAnnotations } from "../forms/pod-view.ts";
import { type Id, nameInMessages, podOfEndpoint } from "../names.ts";
import { notFound, ResourceError, unsupported } from "../resource-error.ts";
import type { V3Object } from "../v3-object.ts";
import {
  asRevision,
  type Call,
  type ChangeV3,
  type DeleteCall,
  type Home,
  type ListCall,
  type Listed,
  type ResourceEvent,
  type WatchCall,
} from "./home.ts";
import { gather, idOf } from "./object-home.ts";
import { translated, viewEvents, viewList } from "./view-home.ts";

const kind = "WorkloadEndpoint";

export type PodHomeOptions = {
  readonly datastore: Datastore;
  /** Of the names of pods' interfaces. */
  readonly interfacePrefix: string;
};

export function createPodHome(options: PodHomeOptions): Home {
  return new PodHome(options);
}

class PodHome implements Home {
  readonly #options: PodHomeOptions;
  /** Of each pod the endpoint that was last seen of it: a deletion names the pod, and not the node that is in the name. */
  readonly #names = new Map<string, string>();
  readonly #view = (stored: StoredObject) => {
    const object = fromPod(stored, this.#options);
    if (object?.metadata.name !== undefined) this.#names.set(keyOf(stored.id), object.metadata.name);
    return object;
  };

  constructor(options: PodHomeOptions) {
    this.#options = options;
  }

  async get(id: Id, { signal }: Call): Promise<V3Object> {
    const podId = podIdOf(id);
    const stored = await translated(kind, id, () => this.#options.datastore.get("Pod", podId, { signal }));
    if (stored === undefined) throw notFound(kind, id, `pods "${podId.name}" not found`);
    const object = await translated(kind, id, async () => this.#view(stored));
    if (object === undefined || object.metadata.name !== id.name) throw notFound(kind, id, undefined);
    return object;
  }

  async list({ signal = new AbortController().signal, within }: ListCall): Promise<Listed> {
    const pages = this.#options.datastore.list("Pod", { signal, ...(within === undefined ? {} : { within }) });
    const id = { namespace: within?.namespace ?? "", name: "*" };
    const { stored, revision } = await translated(kind, id, () => gather(pages));
    if (within === undefined) this.#names.clear(); // all that there is comes now
    return { ...viewList(stored, this.#view), revision };
  }

  /** The deletion of an endpoint that neither a list nor a watch has shown before has no name, and is not said. */
  async *watch({ from, signal, within }: WatchCall): AsyncGenerator<ResourceEvent[]> {
    const nameOf = (id: Id): Id | undefined => {
      const name = this.#names.get(keyOf(id));
      this.#names.delete(keyOf(id));
      return name === undefined ? undefined : { namespace: id.namespace, name };
    };
    const narrowing = within === undefined ? {} : { within };
    const events = this.#options.datastore.watch("Pod", { from: asRevision(from), signal, ...narrowing });
    yield* viewEvents(events, { kind, view: this.#view, nameOf });
  }

  async create(object: V3Object): Promise<V3Object> {
    throw refused("Create", object);
  }

  async update(object: V3Object): Promise<V3Object> {
    throw refused("Update", object);
  }

  async updateStatus(object: V3Object): Promise<V3Object> {
    throw refused("Update", object);
  }

  /** What is wrong with the change is said first, as if it could be written. */
  async edit(id: Id, change: ChangeV3, call: Call): Promise<V3Object | undefined> {
    const current = await this.get(id, call);
    const next = await change(current);
    if (next === "nothing") return current;
    throw unsupported("Update", nameInMessages(kind, id), unspecified, ofPods);
  }

  async delete(id: Id, call: DeleteCall): Promise<void> {
    if (podOfEndpoint(id.name) === undefined) throw unnamed(id, `insufficient identifiers, missing '${id.name}'`);
    await annotate(this.#options.datastore, id, releasedPodAnnotations, call);
  }
}

function keyOf({ namespace, name }: Id): string {
  return `${namespace}/${name}`;
}

/** The original's words, which name one of its internal modes. */
const unspecified = "unsupported PatchMode: patchModeUnspecified";
const ofPods = "workload endpoints follow from pods: change the pod";

function refused(operation: string, object: V3Object): ResourceError {
  return unsupported(operation, nameInMessages(kind, idOf(object)), unspecified, ofPods);
}

function podIdOf(id: Id): Id {
  const pod = podOfEndpoint(id.name);
  if (pod !== undefined) return { namespace: id.namespace, name: pod };
  const malformed = "malformed WorkloadEndpoint name - unable to determine Pod name";
  throw unnamed(id, notFound(kind, id, malformed));
}

/** What is wrong with a name that leads to no pod: parts too many are said as such, whatever is asked for. */
function unnamed({ name }: Id, otherwise: ResourceError | string): ResourceError {
  const next = "an endpoint is called NODE-k8s-POD-eth0, with each - of a part doubled";
  if (splitEndpointName(name).length > 4) {
    return new ResourceError("invalid", `Error parsing ${name}, verify that WorkloadEndpoint name is correct`, {
      next,
    });
  }
  return typeof otherwise === "string" ? new ResourceError("invalid", otherwise, { next }) : otherwise;
}

/** For the CNI plugin: says on the pod which addresses it got. Without an address nothing is said. */
export async function annotatePod(datastore: Datastore, endpoint: V3Object, call: DeleteCall = {}): Promise<void> {
  const annotations = podAnnotationsOf(endpoint);
  if (annotations !== undefined) await annotate(datastore, idOf(endpoint), annotations, call);
}

async function annotate(
  datastore: Datastore,
  id: Id,
  annotations: StringMap,
  { signal, revision, uid }: DeleteCall,
): Promise<void> {
  const podId = podIdOf(id);
  // The uid is never changed, so that a patch which names it fails on another pod of the same name.
  const patch = { metadata: { annotations, ...(uid === undefined ? {} : { uid }) } };
  const at = revision === undefined ? {} : { revision: asRevision(revision) };
  const why = `pods "${podId.name}" not found`;
  await translated(kind, id, () => datastore.patch("Pod", podId, patch, { signal, through: "status", ...at }), why);
}
