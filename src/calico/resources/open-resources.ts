// Puts homes, rules and checks together: the order in which an object is read, completed, checked and stored.
//
//   create   read ▸ rules.prepare ▸ defaults ▸ problems ▸ rules.check ▸ metadata of a new object ▸ home.create
//   update   read ▸ (rules need what is stored) ▸ the same ▸ metadata of an old one ▸ home.update
//   edit     home.edit reads ▸ change ▸ the same as create or update ▸ home.edit writes, again after a conflict
//   delete   rules.beforeDelete ▸ home.delete
import { randomUUID } from "node:crypto";
import { type Clock, isRecord, systemClock } from "../../base/lib/index.ts";
import type { Datastore, EditOptions } from "../datastore/index.ts";
import {
  type Kind,
  kindInfo,
  type Problem,
  problemsBeforeWrite,
  problemText,
  schemaProblems,
  validate,
  withDefaults,
  withSchemaDefaults,
} from "../kinds/index.ts";
import { FieldError } from "../model/index.ts";
import { type ApiKind, homeOf } from "./api-kinds.ts";
import { withDefaultAllow } from "./default-profile.ts";
import { isIpamKind } from "./forms/ipam.ts";
import type { Call, ChangeV3, Home, Listed, ResourceEvent } from "./homes/home.ts";
import { createNodeHome } from "./homes/node-home.ts";
import { createObjectHome, idOf, isApiServer, type StoredForm, storedFormOf } from "./homes/object-home.ts";
import { createPodHome } from "./homes/pod-home.ts";
import { createProfileHome } from "./homes/profile-home.ts";
import { storedOverView } from "./homes/stored-over-view.ts";
import type { Id } from "./names.ts";
import { isResourceError, ResourceError, refuse, resourceErrorOf, updateConflict } from "./resource-error.ts";
import type { DeleteOptions, ListOptions, Resources, WatchOptions } from "./resources.ts";
import type { IpamSteps, Neighbours, Rules } from "./rules/rule.ts";
import { inListOrder, rulesOf } from "./rules/rules.ts";
import { readV3, type V3Object } from "./v3-object.ts";
import { createProblems, forCreate, isoSeconds, requireName, updateProblems } from "./written-metadata.ts";

export type ResourcesOptions = {
  /** After so many writes of one edit without an answer it fails; not given: after as many as an edit ever tries. */
  readonly mostUnanswered?: number;
  readonly clock?: Clock;
  /** At least 0, below 1. */
  readonly random?: () => number;
  readonly makeUid?: () => string;
  /** FELIX_INTERFACEPREFIX: the first of a comma-separated list counts; "" means "cali". */
  readonly interfacePrefix?: string;
  /** USE_POD_CIDR */
  readonly usePodCidr?: boolean;
  readonly ipam?: IpamSteps;
  /**
   * Rules about other objects do not hold: pools may overlap, and one that goes keeps its blocks. For who moves objects about while
   * the datastore is locked, and puts everything in order again.
   */
  readonly withoutRules?: true;
};

export function openResources(datastore: Datastore, options: ResourcesOptions = {}): Resources {
  return new StoredResources(datastore, options);
}

class StoredResources implements Resources {
  readonly #datastore: Datastore;
  readonly #options: ResourcesOptions;
  readonly #clock: Clock;
  readonly #homes = new Map<ApiKind, Home>();
  #form: StoredForm | undefined;

  constructor(datastore: Datastore, options: ResourcesOptions) {
    this.#datastore = datastore;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async get(kind: ApiKind, id: Id, call: Call = {}): Promise<V3Object> {
    requireName(id);
    return this.#shown(kind, await (await this.#home(kind, call)).get(id, call));
  }

  async list(kind: ApiKind, options: ListOptions = {}): Promise<Listed> {
    const { items, ...rest } = await (await this.#home(kind, options)).list(options);
    const shown = items.map((object) => this.#shown(kind, object));
    return { ...rest, items: inListOrder(shown, this.#rules(kind)) };
  }

  async *watch(kind: ApiKind, options: WatchOptions): AsyncGenerator<readonly ResourceEvent[]> {
    const home = await this.#home(kind, options);
    for await (const events of home.watch(options)) {
      yield events.map((event) => (event.is === "set" ? { ...event, object: this.#shown(kind, event.object) } : event));
    }
  }

  async create(kind: ApiKind, given: unknown, call: Call = {}): Promise<V3Object> {
    const object = await this.#prepared(kind, readGiven(kind, given), { isNew: true, call });
    refuse(createProblems(kind, object));
    const home = await this.#home(kind, call);
    return this.#shown(kind, await home.create(this.#asNew(kind, object), call));
  }

  async update(kind: ApiKind, given: unknown, call: Call = {}): Promise<V3Object> {
    const prepared = await this.#prepared(kind, readGiven(kind, given), { isNew: false, call });
    refuse(updateProblems(kind, prepared));
    return this.#shown(kind, await (await this.#home(kind, call)).update(prepared, call));
  }

  async updateStatus(kind: ApiKind, given: unknown, call: Call = {}): Promise<V3Object> {
    const object = readGiven(kind, given);
    refuse(updateProblems(kind, object));
    return this.#shown(kind, await (await this.#home(kind, call)).updateStatus(object, call));
  }

  async replace(kind: ApiKind, given: unknown, call: Call = {}): Promise<V3Object> {
    const object = readGiven(kind, given);
    const id = idOf(object);
    const wanted = object.metadata.resourceVersion ?? "";
    const home = await this.#home(kind, call);
    const replaced = await this.#edit(kind, home, id, call, (current) => {
      if (current === undefined) throw new Missing();
      const { resourceVersion: stored = "" } = current.metadata;
      if (wanted !== "" && wanted !== stored) throw updateConflict(kind, id, { given: wanted, stored });
      const { labels, annotations } = object.metadata;
      return { ...object, metadata: { ...current.metadata, labels, annotations } };
    });
    return replaced ?? (await this.get(kind, id, call)); // which says that it is not there
  }

  async apply(kind: ApiKind, given: unknown, call: Call = {}): Promise<V3Object> {
    try {
      return await this.create(kind, forCreate(readGiven(kind, given)), call);
    } catch (error) {
      if (!isResourceError(error, "exists", "unsupported")) throw error;
      return await this.replace(kind, given, call);
    }
  }

  async edit(kind: ApiKind, id: Id, change: ChangeV3, call: Call = {}): Promise<V3Object | undefined> {
    return await this.#edit(kind, await this.#home(kind, call), id, call, change);
  }

  async delete(kind: ApiKind, id: Id, options: DeleteOptions = {}): Promise<void> {
    requireName(id);
    const { resourceVersion: given, uid, signal } = options;
    const home = await this.#home(kind, options);
    const { beforeDelete } = this.#rules(kind);
    const context = { neighbours: this.#neighbours(options), ipam: this.#options.ipam ?? {}, revision: given, signal };
    const revision = beforeDelete === undefined ? given : await beforeDelete(id, context);
    await home.delete(id, {
      signal,
      ...(revision === undefined ? {} : { revision }),
      ...(uid === undefined ? {} : { uid }),
    });
  }

  async #edit(kind: ApiKind, home: Home, id: Id, call: Call, change: ChangeV3): Promise<V3Object | undefined> {
    requireName(id);
    try {
      const edited = await home.edit(
        id,
        async (stored) => {
          const current = stored === undefined ? undefined : this.#shown(kind, stored);
          const next = await change(current);
          if (next === "nothing" || next === "delete") return next;
          const isNew = current === undefined;
          const prepared = await this.#prepared(kind, readGiven(kind, next), { isNew, stored: current, call });
          refuse(isNew ? createProblems(kind, prepared) : []);
          return isNew ? this.#asNew(kind, prepared) : prepared;
        },
        call,
      );
      return edited === undefined ? undefined : this.#shown(kind, edited);
    } catch (error) {
      if (error instanceof Missing) return undefined;
      throw error;
    }
  }

  /** Completed and checked, whether it is new or not. */
  async #prepared(
    kind: ApiKind,
    object: V3Object,
    { isNew, stored, call }: { isNew: boolean; stored?: V3Object | undefined; call: Call },
  ): Promise<V3Object> {
    const rules = this.#rules(kind);
    const context = { neighbours: this.#neighbours(call), isNew };
    const ready = (await rules.prepare?.(object, context)) ?? object;
    const filled = readGiven(kind, withDefaults(kind, ready));
    // A new object is looked at as it was given; one that replaces another as it would be stored.
    const before =
      isNew || rules.comparesWithStored !== true ? undefined : (stored ?? (await this.get(kind, idOf(object), call)));
    const own = problemsBeforeWrite(kind, isNew ? ready : filled, before);
    refuse([...own, ...(own.length > 0 ? [] : ((await rules.problems?.(filled, context)) ?? []))]);
    const { complete, problems } = isApiServer(this.#datastore) ? asGiven(filled) : completed(kind, filled, before);
    refuse([...validate(kind, filled), ...problems]);
    await rules.check?.(complete, context);
    return complete;
  }

  /** IPAM's own objects were never v3 objects, and have neither. */
  #asNew(kind: ApiKind, object: V3Object): V3Object {
    if (isIpamKind(kind)) return object;
    const { makeUid = randomUUID } = this.#options;
    const { uid = makeUid(), creationTimestamp = isoSeconds(this.#clock.wallMs()) } = object.metadata;
    return { ...object, metadata: { ...object.metadata, uid, creationTimestamp } };
  }

  #shown(kind: ApiKind, object: V3Object): V3Object {
    const { fillsOnRead } = kindInfo(kind);
    const filled = fillsOnRead === true ? readGiven(kind, withDefaults(kind, object)) : object;
    return this.#rules(kind).read?.(filled) ?? filled;
  }

  #rules(kind: ApiKind): Rules {
    if (this.#options.withoutRules === true) return {};
    return rulesOf(kind, this.#datastore);
  }

  #neighbours(call: Call): Neighbours {
    return {
      get: (kind, id) => this.get(kind, id, call),
      list: async (kind) => (await this.list(kind, call)).items,
      update: (object) => this.update(object.kind, object, call),
      edit: async (kind, id, change) => {
        await this.edit(kind, id, change, call);
      },
      delete: (kind, id) => this.delete(kind, id, call),
      sleep: (ms) => this.#clock.sleep(ms, call.signal),
    };
  }

  async #home(kind: ApiKind, call: Call): Promise<Home> {
    const known = this.#homes.get(kind) ?? (await this.#makeHome(kind, call));
    this.#homes.set(kind, known);
    return known;
  }

  /** An API server is asked which form it has, and may answer as it does to any other question. */
  async #formFor(kind: ApiKind, call: Call): Promise<StoredForm> {
    try {
      return await storedFormOf(this.#datastore, call);
    } catch (error) {
      throw resourceErrorOf(error, { kind, id: { namespace: "", name: "*" } });
    }
  }

  async #makeHome(kind: ApiKind, call: Call): Promise<Home> {
    const datastore = this.#datastore;
    const { usePodCidr = false, interfacePrefix = "" } = this.#options;
    const home = homeOf(kind, datastore.flavour);
    switch (home.is) {
      case "node":
        return createNodeHome({ datastore, usePodCidr, editing: this.#editing() });
      case "pod":
        return await this.#withStored(
          kind,
          createPodHome({ datastore, interfacePrefix: interfacePrefix.split(",")[0] || "cali" }),
          call,
        );
      case "namespace-or-account":
        return await this.#withStored(kind, createProfileHome(datastore), call);
      case "object": {
        const objects = await this.#objectHome(kind, home.kind, call);
        return kind === "Profile" ? withDefaultAllow(objects) : objects;
      }
    }
  }

  /** A folder may hold objects of the kind itself, beside those that others are views of. */
  async #withStored(kind: ApiKind, view: Home, call: Call): Promise<Home> {
    if (this.#datastore.holdsEveryKind !== true) return view;
    const both = storedOverView({ stored: await this.#objectHome(kind, kind, call), view });
    return kind === "Profile" ? withDefaultAllow(both) : both;
  }

  async #objectHome(kind: ApiKind, stored: Kind, call: Call): Promise<Home> {
    const datastore = this.#datastore;
    this.#form ??= await this.#formFor(kind, call);
    return createObjectHome({ datastore, kind, storedKind: stored, form: this.#form, editing: this.#editing() });
  }

  #editing(): Pick<EditOptions, "clock" | "random" | "mostUnanswered"> {
    const { clock, random, mostUnanswered } = this.#options;
    return {
      ...(clock === undefined ? {} : { clock }),
      ...(random === undefined ? {} : { random }),
      ...(mostUnanswered === undefined ? {} : { mostUnanswered }),
    };
  }
}

/** Thrown out of an edit by whoever finds nothing to replace. */
class Missing extends Error {}

type Completed = { readonly complete: V3Object; readonly problems: readonly Problem[] };

/** Where an API server does with the CRD's schema what is to be done. */
function asGiven(object: V3Object): Completed {
  return { complete: object, problems: [] };
}

/** What an API server does with the CRD's schema, where there is none to do it. */
function completed(kind: ApiKind, object: V3Object, before: V3Object | undefined): Completed {
  const complete = readGiven(kind, withSchemaDefaults(kind, object));
  return { complete, problems: schemaProblems(kind, complete, before) };
}

/** What a schema finds wrong is a problem as any other. */
function readGiven(kind: ApiKind, given: unknown): V3Object {
  try {
    return readV3(kind, isRecord(given) ? given : {});
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    const { field, rule } = error;
    const problems = [{ field, rule, name: field === "" ? kind : field, reason: rule }];
    throw new ResourceError("invalid", problemText(problems), { cause: error, problems });
  }
}
