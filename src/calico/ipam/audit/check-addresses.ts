// Addresses and their users: what is held is used, what is used is held, by the one it is held for, and by nobody else.
import { type AddressRange, parseRange } from "../../../base/lib/index.ts";
import { poolOf } from "../pools.ts";
import { type Allocation, takenAtNs } from "./allocations.ts";
import { type Finding, fixCommand, releaseCommand } from "./finding.ts";
import type { Audited } from "./stored.ts";
import { type AddressUse, type User, userText } from "./uses.ts";

export type AddressTally = {
  readonly leaked: readonly Allocation[];
  /** Used, and in no enabled pool. */
  readonly outsidePools: readonly AddressUse[];
  /** Used, in an enabled pool, and not allocated. */
  readonly notAllocated: readonly AddressUse[];
  /** By address; only those that are used more than once. */
  readonly twice: ReadonlyMap<string, readonly AddressUse[]>;
};

export function tallyAddresses(audited: Audited, allocations: readonly Allocation[]): AddressTally {
  const users = Map.groupBy(audited.uses, ({ address }) => address);
  const held = new Set(allocations.map(({ address }) => address));
  const starting = new Set(audited.starting.map(({ namespace, pod }) => `${namespace}/${pod}`));
  const unheld = audited.uses.filter(({ address }) => !held.has(address));
  const isPooled = ({ address }: AddressUse) => poolOf(audited.pools, rangeOf(address), "enabled") !== undefined;
  return {
    leaked: allocations.filter((allocation) => !users.has(allocation.address) && !isKept(allocation, starting)),
    outsidePools: unheld.filter((use) => !isPooled(use)),
    notAllocated: unheld.filter(isPooled),
    twice: new Map([...users].filter(([, uses]) => uses.length > 1)),
  };
}

/** Whether it is held for somebody who need not show that he uses it. */
function isKept({ heldFor }: Allocation, starting: ReadonlySet<string>): boolean {
  if (heldFor.is === "pod") return starting.has(`${heldFor.namespace}/${heldFor.pod}`);
  return heldFor.is === "windows" || heldFor.is === "virtual machine" || heldFor.is === "waiting";
}

export function checkAddresses(
  tally: AddressTally,
  allocations: readonly Allocation[],
  uses: readonly AddressUse[],
): Finding[] {
  return [
    ...tally.leaked.map(leaked),
    ...[...tally.twice].map(([address, users]) => twice(address, users)),
    ...ofAnother(allocations, uses),
    ...tally.notAllocated.map(
      ({ address, user }): Finding => ({
        code: "ADDRESS_NOT_ALLOCATED",
        key: `ADDRESS_NOT_ALLOCATED ${address} ${userText(user)}`,
        says: `${address} is used by ${userText(user)}, and is not allocated: the next pod may get it, too`,
        command: restartCommand(user),
        mend: undefined,
      }),
    ),
    ...tally.outsidePools.map(
      ({ address, user }): Finding => ({
        code: "ADDRESS_OUTSIDE_POOLS",
        key: `ADDRESS_OUTSIDE_POOLS ${address} ${userText(user)}`,
        says: `${address} is used by ${userText(user)}, and is in no enabled pool`,
        command: `nothing, if other software gave it; else ${restartCommand(user)}`,
        mend: undefined,
      }),
    ),
  ];
}

function leaked(allocation: Allocation): Finding {
  const { address, block, handle, sequenceNumber, heldFor } = allocation;
  const sinceNs = takenAtNs(allocation);
  const isKnown = heldFor.is !== "unknown";
  const code = isKnown ? "ADDRESS_LEAKED" : "ADDRESS_UNKNOWN_HOLDER";
  return {
    code,
    key: `${code} ${address} ${sequenceNumber}`,
    says: `${address} is held for ${holderText(allocation)}, and nobody uses it`,
    command: isKnown ? fixCommand : releaseCommand(address),
    mend: isKnown ? { is: "address", address: rangeOf(address), block, handle, sequenceNumber, heldFor } : undefined,
    ...(sinceNs === undefined ? {} : { sinceNs }),
  };
}

function holderText({ heldFor, handle }: Allocation): string {
  switch (heldFor.is) {
    case "pod":
      return `pod ${heldFor.namespace}/${heldFor.pod} of node ${heldFor.node || "?"}`;
    case "tunnel":
      return `the tunnel of node ${heldFor.node} (${heldFor.type})`;
    case "service":
      return `service ${heldFor.namespace}/${heldFor.service}`;
    default:
      return handle === undefined ? "nobody" : `handle ${handle}, whose attributes name nobody`;
  }
}

function twice(address: string, users: readonly AddressUse[]): Finding {
  const names = users.map(({ user }) => userText(user));
  const [, second] = users;
  return {
    code: "ADDRESS_TWICE",
    key: `ADDRESS_TWICE ${address} ${names.join(" ")}`,
    says: `${address} is used by ${names.join(" and ")}`,
    command: second === undefined ? "" : `${restartCommand(second.user)}, and look which of them answers`,
    mend: undefined,
  };
}

/** The user of an address is not the one that its attributes name. */
function ofAnother(allocations: readonly Allocation[], uses: readonly AddressUse[]): Finding[] {
  const users = Map.groupBy(uses, ({ address }) => address);
  return allocations.flatMap((allocation): Finding[] => {
    const [use, ...others] = users.get(allocation.address) ?? [];
    if (use === undefined || others.length > 0 || isFor(allocation, use.user)) return [];
    const { address } = allocation;
    return [
      {
        code: "ADDRESS_OF_ANOTHER",
        key: `ADDRESS_OF_ANOTHER ${address} ${userText(use.user)}`,
        says: `${address} is used by ${userText(use.user)}, and held for ${holderText(allocation)}`,
        command: restartCommand(use.user),
        mend: undefined,
      },
    ];
  });
}

/** Who does not say his name is not contradicted. */
function isFor({ heldFor }: Allocation, user: User): boolean {
  switch (heldFor.is) {
    case "pod":
      if (user.is !== "workload") return false;
      return user.namespace === heldFor.namespace && (user.pod === "" || user.pod === heldFor.pod);
    case "tunnel":
      return user.is === "node" && user.node === heldFor.node;
    case "service":
      return user.is === "service" && user.namespace === heldFor.namespace && user.service === heldFor.service;
    case "waiting":
      return false;
    default:
      return true;
  }
}

function restartCommand(user: User): string {
  switch (user.is) {
    case "workload":
      return `kubectl -n ${user.namespace} delete pod ${user.pod || user.name}`;
    case "node":
      return `restart calico-node on ${user.node}`;
    case "service":
      return `kubectl -n ${user.namespace} delete service ${user.service}, and make it again`;
  }
}

function rangeOf(address: string): AddressRange {
  const range = parseRange(address);
  if (range === undefined) throw new Error(`${address} is no address`); // all of them come from parsed ones
  return range;
}
