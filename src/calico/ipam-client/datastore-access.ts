// Address management's access to a datastore, whichever it is: steps become reads and compare-and-swap writes of the stored
// objects, and what goes wrong becomes an answer. Nothing is kept between two steps.
import { type Clock, isRecord, type JsonRecord, parseRange } from "../../base/lib/index.ts";
import { type Datastore, isDatastoreError } from "../datastore/index.ts";
import {
  type Answer,
  affinitySpec,
  blockSpec,
  cidrOf,
  handleSpec,
  type Pool,
  type Ref,
  type Reservations,
  readAffinity,
  readBlock,
  readHandle,
  readPool,
  readReservations,
  type Step,
  type Stored,
} from "../ipam/index.ts";
import { ipamBlockSpec } from "../kinds/index.ts";
import { type Labels, readSchema } from "../model/index.ts";
import {
  type IpamObject,
  type IpamObjects,
  type IpamRef,
  isResourceError,
  openIpamObjects,
  openResources,
  ResourceError,
  type Resources,
} from "../resources/index.ts";
import { type Call, defaultConfig, type IpamAccess, type IpamConfig } from "./access.ts";

export type AccessOptions = {
  readonly clock: Clock;
  /** At least 0, below 1. */
  readonly random: () => number;
};

export function openIpamAccess(datastore: Datastore, options: AccessOptions): IpamAccess {
  return new DatastoreAccess(datastore, options);
}

class DatastoreAccess implements IpamAccess {
  readonly #datastore: Datastore;
  readonly #objects: IpamObjects;
  readonly #resources: Resources;
  readonly #options: AccessOptions;

  constructor(datastore: Datastore, options: AccessOptions) {
    this.#datastore = datastore;
    this.#objects = openIpamObjects(datastore);
    this.#resources = openResources(datastore, options);
    this.#options = options;
  }

  async answer(step: Step, call: Call): Promise<Answer> {
    if (step.do === "read the clock") return { is: "time", nowNs: this.#nowNs() };
    const wasAborted = call.signal?.aborted === true;
    try {
      call.signal?.throwIfAborted();
      return await this.#carryOut(step, call);
    } catch (error) {
      return answerOf(step, error, wasAborted);
    }
  }

  async config(call: Call): Promise<IpamConfig> {
    try {
      const { spec } = await this.#resources.get("IPAMConfig", theConfig, call);
      const { kubeVirtVMAddressPersistence: persistence } = spec;
      return {
        strictAffinity: spec.strictAffinity === true,
        autoAllocateBlocks: spec.autoAllocateBlocks === true,
        maxBlocksPerHost: Number(spec.maxBlocksPerHost ?? 0),
        cooldownSeconds: Number(spec.ipCooldownSeconds ?? 0),
        ...(persistence === "Enabled" || persistence === "Disabled"
          ? { kubeVirtVMAddressPersistence: persistence }
          : {}),
      };
    } catch (error) {
      if (isResourceError(error, "not-found", "no-such-kind")) return defaultConfig;
      throw error;
    }
  }

  async pools(call: Call): Promise<readonly Pool[]> {
    const { items } = await this.#resources.list("IPPool", call);
    return items.flatMap(({ metadata: { name = "" }, spec, status }) => {
      const conditions = Array.isArray(status?.conditions) ? status.conditions.filter(isRecord) : [];
      return readPool({ name, spec, conditions }) ?? [];
    });
  }

  async reservations(call: Call): Promise<Reservations> {
    const { items } = await this.#resources.list("IPReservation", call);
    return readReservations(items.map(({ spec }) => spec));
  }

  async nodeLabels(node: string, call: Call): Promise<Labels> {
    const { metadata } = await this.#resources.get("Node", { namespace: "", name: node }, call);
    return metadata.labels ?? {};
  }

  async writeConfig(config: IpamConfig, call: Call): Promise<void> {
    const { cooldownSeconds: ipCooldownSeconds, ...rest } = config;
    await this.#resources.edit(
      "IPAMConfig",
      theConfig,
      (current) => ({
        kind: "IPAMConfig",
        apiVersion: "projectcalico.org/v3",
        metadata: { name: "default" },
        ...current,
        spec: { ...current?.spec, ...rest, ipCooldownSeconds },
      }),
      call,
    );
  }

  async labelAffinities(node: string, call: Call): Promise<number> {
    const labelled = new Set<unknown>();
    for (const family of [4, 6] as const) {
      const { items } = await this.#objects.listAffinitiesOf({ type: "host", node, family }, call);
      for (const { spec } of items) labelled.add(spec.cidr);
    }
    const { items } = await this.#objects.list("BlockAffinity", call);
    const isOld = ({ spec }: IpamObject) =>
      spec.node === node && (spec.type ?? "host") === "host" && !labelled.has(spec.cidr);
    const old = items.filter(isOld);
    for (const { spec, revision } of old) {
      const ref = { kind: "BlockAffinity", type: "host", node, cidr: String(spec.cidr) } as const;
      try {
        await this.#objects.update(ref, { spec, revision }, call); // writing adds the labels
      } catch (error) {
        if (!isResourceError(error, "conflict", "not-found")) throw error; // whoever wrote it added them
      }
    }
    return old.length;
  }

  async forgetNode(node: string, { signal }: Call): Promise<void> {
    if (this.#datastore.flavour !== "etcdv3") return;
    try {
      await this.#datastore.delete("BlockAffinity", { namespace: "", name: node }, { signal });
    } catch (error) {
      if (!isDatastoreError(error, "not-found")) throw error;
    }
  }

  async #carryOut(step: Exclude<Step, { do: "read the clock" }>, call: Call): Promise<Answer> {
    switch (step.do) {
      case "get": {
        const found = await this.#objects.get(objectRef(step.ref), call);
        return found === undefined ? { is: "absent" } : { is: "found", ...read(step.ref.kind, found) };
      }
      case "read the node":
        return { is: "node", labels: await this.nodeLabels(step.name, call) };
      case "list affinities": {
        const { owner, family } = step;
        const { items } =
          owner === undefined
            ? await this.#objects.list("BlockAffinity", call)
            : await this.#objects.listAffinitiesOf({ type: owner.type, node: owner.name, family }, call);
        const isOfFamily = ({ spec }: IpamObject) => parseRange(String(spec.cidr))?.family === family;
        return { is: "listed", objects: items.filter(isOfFamily).map((found) => read("affinity", found)) };
      }
      case "list blocks": {
        const { items } = await this.#objects.list("IPAMBlock", call);
        const isOfFamily = ({ spec }: IpamObject) => parseRange(String(spec.cidr))?.family === step.family;
        return { is: "listed", objects: items.filter(isOfFamily).flatMap(readableBlock) };
      }
      case "create": {
        const revision = await this.#objects.create(refOfObject(step.object), specOf(step.object), call);
        return { is: "written", revision };
      }
      case "update": {
        const { object, revision } = step;
        const written = await this.#objects.update(refOfObject(object), { spec: specOf(object), revision }, call);
        return { is: "written", revision: written };
      }
      case "delete":
        await this.#objects.delete(objectRef(step.ref), step.revision, call);
        return { is: "written", revision: "" };
    }
  }

  /** Clocks have milliseconds; the rest is random, so that two blocks made in one of them differ in their numbers. */
  #nowNs(): bigint {
    const { clock, random } = this.#options;
    return BigInt(Math.floor(clock.wallMs())) * 1_000_000n + BigInt(Math.floor(random() * 1_000_000));
  }
}

const theConfig = { namespace: "", name: "default" };

function answerOf(step: Step, error: unknown, wasAborted: boolean): Answer {
  const isWrite = step.do === "create" || step.do === "update" || step.do === "delete";
  if (step.do === "create" && isResourceError(error, "exists")) return { is: "exists" };
  if (isWrite && step.do !== "create") {
    if (isResourceError(error, "conflict")) return { is: "conflict" };
    if (isResourceError(error, "not-found")) return { is: "absent" };
  }
  const wasWritten = isWrite && !wasAborted && !isSurelyNotWritten(error) ? "perhaps" : "no";
  return { is: "failed", error, wasWritten };
}

/** A datastore says so with every error but "unavailable", whose answer got lost. */
function isSurelyNotWritten(error: unknown): boolean {
  if (!isResourceError(error)) return isDatastoreError(error) && error.code !== "unavailable";
  if (error.code !== "unavailable") return true;
  return isDatastoreError(error.cause) && error.cause.code !== "unavailable";
}

function objectRef(ref: Ref): IpamRef {
  switch (ref.kind) {
    case "block":
      return { kind: "IPAMBlock", cidr: ref.cidr };
    case "affinity":
      return { kind: "BlockAffinity", type: ref.owner.type, node: ref.owner.name, cidr: ref.cidr };
    case "handle":
      return { kind: "IPAMHandle", handle: ref.id };
  }
}

function refOfObject(object: Stored): IpamRef {
  switch (object.kind) {
    case "block":
      return { kind: "IPAMBlock", cidr: cidrOf(object.value) };
    case "affinity": {
      const { owner, cidr } = object.value;
      return { kind: "BlockAffinity", type: owner.type, node: owner.name, cidr };
    }
    case "handle":
      return { kind: "IPAMHandle", handle: object.value.id };
  }
}

function specOf(object: Stored): JsonRecord {
  switch (object.kind) {
    case "block":
      return blockSpec(object.value);
    case "affinity":
      return affinitySpec(object.value);
    case "handle":
      return handleSpec(object.value);
  }
}

type Found = { readonly object: Stored; readonly revision: string; readonly made?: string | undefined };

/** Throws ResourceError for what our changes cannot rely on. */
function read(kind: Stored["kind"], { spec, revision, uid }: IpamObject): Found {
  switch (kind) {
    case "block":
      return { object: { kind, value: requiredBlock(spec) }, revision };
    case "affinity":
      return { object: { kind, value: readAffinity(spec) }, revision };
    case "handle":
      return { object: { kind, value: readHandle(spec) }, revision, made: uid };
  }
}

function requiredBlock(spec: JsonRecord) {
  const found = readBlock(readSchema(ipamBlockSpec, spec, "spec"));
  if (found.is === "block") return found.block;
  throw new ResourceError("unreadable", `block ${String(spec.cidr)} cannot be used: ${found.field} ${found.why}`, {
    next: "look at it with `calicoctl ipam check`, and mend or delete it",
  });
}

/** In a list, a block that cannot be used costs only itself: whoever needs it gets it, and is told. */
function readableBlock(found: IpamObject): Found[] {
  try {
    return [read("block", found)];
  } catch (error) {
    if (isResourceError(error, "unreadable")) return [];
    throw error;
  }
}
