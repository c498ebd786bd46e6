// Calico's nodes where Kubernetes has nodes: a view of these. They are created and deleted by whoever runs the cluster;
// a write changes annotations, through the node's status, which is what Calico's roles allow. In a folder nobody else runs
// the cluster: there nodes are created, as Calico's own objects, and deleted; each is read and changed in the form it has.

import { isCalicoNode } from "../../convert/views.ts";
import { type Datastore, type EditOptions, edit, type StoredObject } from "../../datastore/index.ts";
import { fromCustomResource, toCustomResource } from "../forms/custom-resource.ts";
import { fromKubernetesNode, toKubernetesNode } from "../forms/node-view.ts";
import { type Id, nameInMessages } from "../names.ts";
import { notFound, type ResourceError, unsupported, updateConflict } from "../resource-error.ts";
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

const withKubectl = "nodes are created and deleted with kubectl, or by the kubelet";

export type NodeHomeOptions = {
  readonly datastore: Datastore;
  readonly usePodCidr: boolean;
  readonly editing: Pick<EditOptions, "clock" | "random" | "mostUnanswered">;
};

export function createNodeHome(options: NodeHomeOptions): Home {
  return new NodeHome(options);
}

class NodeHome implements Home {
  readonly #options: NodeHomeOptions;
  readonly #view = (stored: StoredObject) =>
    isCalicoNode(stored.value)
      ? fromCustomResource("Node", stored.value, stored.revision)
      : fromKubernetesNode(stored, this.#options);

  constructor(options: NodeHomeOptions) {
    this.#options = options;
  }

  async get(id: Id, { signal }: Call): Promise<V3Object> {
    const { datastore } = this.#options;
    const stored = await translated("Node", id, () => datastore.get("Node", id, { signal }));
    if (stored === undefined) throw missing(id);
    return await translated("Node", id, async () => this.#view(stored));
  }

  async list({ signal = new AbortController().signal, within }: ListCall): Promise<Listed> {
    const narrowing = within === undefined ? {} : { within };
    const pages = this.#options.datastore.list("Node", { signal, ...narrowing });
    const { stored, revision } = await translated("Node", anyNode, () => gather(pages));
    return { ...viewList(stored, this.#view), revision };
  }

  async *watch({ from, signal, within }: WatchCall): AsyncGenerator<ResourceEvent[]> {
    const narrowing = within === undefined ? {} : { within };
    const events = this.#options.datastore.watch("Node", { from: asRevision(from), signal, ...narrowing });
    yield* viewEvents(events, { kind: "Node", view: this.#view, nameOf: (id) => id });
  }

  async create(object: V3Object, { signal }: Call): Promise<V3Object> {
    const { datastore } = this.#options;
    if (datastore.holdsEveryKind === true) {
      const stored = await translated("Node", idOf(object), () =>
        datastore.create("Node", toCustomResource(object, v3Form), { signal }),
      );
      return this.#view(stored);
    }
    throw notOurs("Create", idOf(object));
  }

  async update(object: V3Object, call: Call): Promise<V3Object> {
    const id = idOf(object);
    const given = object.metadata.resourceVersion ?? "";
    const changed = await this.edit(
      id,
      (current) => {
        const stored = current?.metadata.resourceVersion ?? "";
        if (current !== undefined && stored !== given) throw updateConflict("Node", id, { given, stored });
        return object;
      },
      call,
    );
    if (changed === undefined) throw missing(id);
    return changed;
  }

  /** A node's status is in its annotations as its spec is. */
  updateStatus(object: V3Object, call: Call): Promise<V3Object> {
    return this.update(object, call);
  }

  async edit(id: Id, change: ChangeV3, { signal }: Call): Promise<V3Object | undefined> {
    const { datastore, editing } = this.#options;
    const decide = async (current: StoredObject | undefined) => {
      const next = await change(current === undefined ? undefined : this.#view(current));
      if (next === "nothing") return next;
      if (next === "delete" && datastore.holdsEveryKind !== true) throw notOurs("Delete", id);
      if (next === "delete") return next;
      if (current === undefined) throw missing(id);
      const isOwn = isCalicoNode(current.value);
      return { value: isOwn ? toCustomResource(next, v3Form) : toKubernetesNode(next, current.value) };
    };
    const { object } = await translated("Node", id, () =>
      edit(datastore, "Node", id, decide, { signal, through: "status", ...editing }),
    );
    return object === undefined ? undefined : this.#view(object);
  }

  async delete(id: Id, { signal, revision, uid }: DeleteCall): Promise<void> {
    const { datastore } = this.#options;
    if (datastore.holdsEveryKind !== true) throw notOurs("Delete", id);
    const at = revision === undefined ? {} : { revision: asRevision(revision) };
    await translated("Node", id, () =>
      datastore.delete("Node", id, { signal, ...at, ...(uid === undefined ? {} : { uid }) }),
    );
  }
}

const v3Form = { form: "projectcalico.org" } as const;

function notOurs(operation: string, id: Id): ResourceError {
  return unsupported(operation, nameInMessages("Node", id), undefined, withKubectl);
}

const anyNode: Id = { namespace: "", name: "*" };

function missing(id: Id) {
  return notFound("Node", id, `nodes "${id.name}" not found`);
}
