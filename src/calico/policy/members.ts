// Which addresses are in a set, computed from scratch: plain, so that it can be trusted. Asked again about the same data it
// remembers its answers; the data must not change meanwhile.
import { type AddressRange, holds } from "../../base/lib/index.ts";
import { evaluateSelector, type Labels } from "../model/index.ts";
import type { PolicyData } from "./policy-data.ts";
import type { SetSpec } from "./set-spec.ts";
import type { Endpoint, NetworkSet, ServiceEndpoints } from "./values.ts";

export type Member = { readonly net: AddressRange; readonly protocol?: number; readonly port?: number };

/** An endpoint's own labels hide those of its profiles, an earlier profile's those of a later one. */
export function effectiveLabels(
  { labels, profileIds }: { readonly labels: Labels; readonly profileIds: readonly string[] },
  profileLabels: ReadonlyMap<string, Labels>,
): Labels {
  const inherited = profileIds.toReversed().map((id) => profileLabels.get(id) ?? {});
  return Object.assign({}, ...inherited, labels);
}

export class Members {
  readonly #data: PolicyData;
  readonly #known = new Map<string, readonly Member[]>();
  readonly #labels = new Map<object, Labels>();

  constructor(data: PolicyData) {
    this.#data = data;
  }

  labelsOf(labelled: { readonly labels: Labels; readonly profileIds: readonly string[] }): Labels {
    const known = this.#labels.get(labelled) ?? effectiveLabels(labelled, this.#data.profileLabels);
    this.#labels.set(labelled, known);
    return known;
  }

  of(set: SetSpec): readonly Member[] {
    const known = this.#known.get(set.id) ?? [...this.#compute(set)];
    this.#known.set(set.id, known);
    return known;
  }

  hasAddress(set: SetSpec, address: AddressRange): boolean {
    return this.of(set).some(({ net }) => holds(net, address));
  }

  hasPort(set: SetSpec, address: AddressRange, protocol: number, port: number | undefined): boolean {
    return this.of(set).some(
      (member) => member.protocol === protocol && member.port === port && holds(member.net, address),
    );
  }

  *#compute(set: SetSpec): Generator<Member> {
    const { workloads, hostEndpoints, networkSets, slices } = this.#data;
    if (set.is === "service") {
      for (const slice of slices.values()) yield* membersOfSlice(set, slice);
      return;
    }
    for (const labelled of [...workloads.values(), ...hostEndpoints.values(), ...networkSets.values()])
      if (evaluateSelector(set.selector, this.labelsOf(labelled))) yield* membersOf(set, labelled);
  }
}

/** What an endpoint or network set that matches brings into the set. */
export function* membersOf(
  set: Exclude<SetSpec, { readonly is: "service" }>,
  labelled: Endpoint | NetworkSet,
): Generator<Member> {
  if (set.is === "nets") for (const net of "nets" in labelled ? labelled.nets : labelled.addresses) yield { net };
  else if ("ports" in labelled) yield* namedPorts(labelled, set.name, set.protocol);
}

export function* membersOfSlice(set: SetSpec & { readonly is: "service" }, slice: ServiceEndpoints): Generator<Member> {
  if (slice.namespace !== set.namespace || slice.service !== set.name) return;
  for (const net of slice.addresses) {
    if (set.hasPorts) for (const port of slice.ports) yield { net, ...port };
    else yield { net };
  }
}

function* namedPorts(endpoint: Endpoint, name: string, protocol: number | undefined): Generator<Member> {
  for (const port of endpoint.ports) {
    if (port.name !== name || (protocol !== undefined && port.protocol !== protocol)) continue;
    for (const net of endpoint.addresses) yield { net, protocol: port.protocol, port: port.port };
  }
}
