// GC: the addresses of this node's containers that the runtime does not know any more. A runtime says which attachments are valid; what is
// held by this network's handles for others on this node is given back. All blocks are looked at: an address may be borrowed.

import { isRecord } from "../../../base/lib/index.ts";
import { nodeNameOf } from "../node-name.ts";
import type { ReadPod } from "../protocol/attachments.ts";
import { validContainers } from "../protocol/attachments.ts";
import type { IpamCall } from "./ipam-call.ts";

export type Collected = { readonly containerId: string; readonly pod: ReadPod | undefined };

/** Whose addresses were given back. */
export async function collectAddresses(given: IpamCall): Promise<readonly Collected[]> {
  const { call, configuration, backed } = given;
  const valid = validContainers(call.configuration);
  const node = await nodeNameOf(configuration);
  const gone = new Map<string, Collected>();
  for (const { handle, secondary } of await allocations(given)) {
    const containerId = handle.slice(configuration.name.length + 1);
    if (!handle.startsWith(`${configuration.name}.`) || secondary.node !== node || valid.has(containerId)) continue;
    const { namespace, pod: name } = secondary;
    const pod = namespace === undefined || name === undefined ? undefined : { namespace, name };
    gone.set(handle, { containerId, pod });
  }
  for (const handle of gone.keys()) {
    await backed.locked(async (signal) => void (await backed.ipam.releaseByHandle(handle, { signal })));
  }
  return [...gone.values()];
}

type Allocation = { readonly handle: string; readonly secondary: { readonly [name: string]: string | undefined } };

async function allocations({ backed: { resources } }: IpamCall): Promise<readonly Allocation[]> {
  const { items } = await resources.list("IPAMBlock");
  return items.flatMap(({ spec }) => {
    const attributes = Array.isArray(spec.attributes) ? spec.attributes.filter(isRecord) : [];
    return attributes.flatMap((attribute) => {
      const { handle_id: handle, secondary, releasedAt } = attribute;
      if (typeof handle !== "string" || (releasedAt !== undefined && releasedAt !== null)) return [];
      return [{ handle, secondary: texts(secondary) }];
    });
  });
}

function texts(value: unknown): { readonly [name: string]: string | undefined } {
  const entries = Object.entries(isRecord(value) ? value : {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
