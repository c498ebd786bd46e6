// The IPAM plugin: an address for a container's interface, and back. The handle is NETWORK.CONTAINER, so that DEL finds what ADD took
// knowing nothing else; attributes beside each address tell people whose it is.
//
// ADD may be repeated: by a runtime that was killed, or that lost the answer. One for the same container and the same interface gets the
// address that the first got. Interfaces are told apart by the attribute `interface`, which is written for those that are not called
// eth0: that is the name in every cluster, and the original writes none.
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { addressText, type JsonRecord, rangeText } from "../../../base/lib/index.ts";
import { makeFoldersSync } from "../../../base/linux/files.ts";
import { type Datastore, DatastoreError } from "../../../calico/datastore/index.ts";
import type { Ipam } from "../../../calico/ipam-client/index.ts";
import type { Labels } from "../backing.ts";
import { type NetworkConfiguration, readNetworkConfiguration } from "../configuration.ts";
import { nodeNameOf } from "../node-name.ts";
import type { PluginOptions } from "../options.ts";
import { type PluginArguments, readArguments } from "../protocol/arguments.ts";
import type { PluginCall } from "../protocol/call.ts";
import { CniError, cniErrorCodes } from "../protocol/cni-error.ts";
import { ipamResult, type ResultAddress } from "../protocol/ipam-result.ts";
import type { Plugin } from "../protocol/run-plugin.ts";
import type { CniVersion } from "../protocol/versions.ts";
import { collectAddresses } from "./collect-addresses.ts";
import type { IpamCall } from "./ipam-call.ts";
import { heldAddresses } from "./previous-result.ts";

export function createIpamPlugin(options: PluginOptions): Plugin {
  const worked = async <T>(call: PluginCall, work: (given: IpamCall) => Promise<T>): Promise<T> => {
    const configuration = readNetworkConfiguration(call.configuration, options.variables);
    await using backed = await options.backing.open(configuration);
    return await work({ options, call, configuration, backed });
  };
  return {
    about: `Calico CNI IPAM ${options.version}`,
    add: (call, version) => worked(call, (given) => addAddresses(given, version)),
    // A runtime that does not say what there should be asks for nothing.
    async check(call) {
      if (heldAddresses(call.configuration.prevResult).length > 0) await worked(call, checkAddresses);
    },
    saysChecked: "",
    del: (call) => worked(call, releaseAddresses),
    status: (call) => worked(call, ({ backed }) => backed.mustBeReady()),
    collect: (call) => worked(call, async (given) => void (await collectAddresses(given))),
  };
}

export async function addAddresses(given: IpamCall, version: CniVersion): Promise<JsonRecord> {
  const { options, call, configuration, backed } = given;
  const args = readArguments(call.args);
  const node = await nodeNameOf(configuration);
  const namespaceLabels = await backed.namespaceLabels(() => labelsOf(args, given));
  const forWhom = {
    node,
    use: "Workload",
    handle: handleOf(configuration, call),
    attributes: attributesOf({ node, call, args, wallMs: options.clock.wallMs() }),
    isSame: (held: { readonly secondary?: { readonly [name: string]: string } }) =>
      held.secondary?.node === node && (held.secondary.interface ?? usualInterface) === call.ifname,
  } as const;
  const addresses = await backed.locked(async (signal): Promise<ResultAddress[]> => {
    if (args.address !== undefined) {
      await upgradeOnce(configuration, backed.ipam, { node, signal });
      const { address } = await backed.ipam.assignIP({ ...forWhom, address: args.address }, { signal });
      return [{ family: address.family, cidr: rangeText(address) }];
    }
    const { assignIpv4, assignIpv6, ipv4Pools, ipv6Pools } = configuration.ipam;
    const { ipv4, ipv6 } = await backed.ipam.autoAssign(
      {
        ...forWhom,
        namespaceLabels,
        ipv4: { count: assignIpv4 ? 1 : 0, pools: ipv4Pools },
        ipv6: { count: assignIpv6 ? 1 : 0, pools: ipv6Pools },
      },
      { signal },
    );
    return [...ipv4.addresses, ...ipv6.addresses].map(({ address, block }) => ({
      family: address.family,
      cidr: `${addressText(address.family, address.first)}/${block.prefixLength}`,
    }));
  });
  return ipamResult(version, addresses);
}

export async function releaseAddresses({ call, configuration, backed }: IpamCall): Promise<void> {
  const { pod } = readArguments(call.args);
  await backed.locked(async (signal) => {
    const released = await backed.ipam.releaseByHandle(handleOf(configuration, call), { signal });
    // As releases before v3 called it. Whoever had an address by the new name has none by the old one.
    if (released.length > 0) return;
    await backed.ipam.releaseByHandle(pod === undefined ? call.containerId : `${pod.namespace}.${pod.name}`, {
      signal,
    });
  });
}

/** What the runtime says that the interface has must be held for it. */
export async function checkAddresses({ call, configuration, backed }: IpamCall): Promise<void> {
  const wanted = heldAddresses(call.configuration.prevResult);
  const handle = handleOf(configuration, call);
  const held = (await backed.ipam.ipsByHandle(handle)) ?? [];
  const texts = new Set(held.map(({ address }) => addressText(address.family, address.first)));
  const missing = wanted.filter((address) => !texts.has(address));
  if (missing.length === 0) return;
  throw new CniError(cniErrorCodes.other, `${missing.join(", ")} is not held by ${handle}`, {
    details: "the address may be given to another pod: delete this pod, so that it is made again",
  });
}

/**
 * Affinities that an old release left have no labels, and are not found by them. The original mends that before the first named
 * address after a boot, which a file in a folder that does not outlive it says; so do we.
 */
export async function upgradeOnce(
  { lockFile }: Pick<NetworkConfiguration, "lockFile">,
  ipam: Pick<Ipam, "upgradeHost">,
  { node, signal }: { node: string; signal: AbortSignal },
): Promise<void> {
  const marker = join(dirname(lockFile), "cni", "ipam_upgraded");
  if (existsSync(marker)) return;
  await ipam.upgradeHost(node, { signal });
  try {
    makeFoldersSync(dirname(marker));
    writeFileSync(marker, "", { flag: "wx" }); // follows no link that somebody has put there
  } catch {
    // it is looked for again the next time
  }
}

async function labelsOf({ pod }: PluginArguments, { configuration, backed }: IpamCall): Promise<Labels> {
  if (pod === undefined || configuration.kubernetes === undefined) return {};
  return await readLabels(await backed.cluster(), pod.namespace);
}

async function readLabels(datastore: Datastore, namespace: string): Promise<{ readonly [name: string]: string }> {
  const failed = (why: string, cause?: unknown) =>
    new CniError(cniErrorCodes.other, `failed to get namespace ${namespace}: ${why}`, { cause });
  try {
    const found = await datastore.get("Namespace", { namespace: "", name: namespace });
    if (found === undefined) throw failed(`namespaces "${namespace}" not found`);
    const { metadata } = found.value as { metadata?: { labels?: { readonly [name: string]: string } } }; // Kubernetes' own
    return metadata?.labels ?? {};
  } catch (error) {
    throw error instanceof DatastoreError ? failed(saidBy(error), error) : error;
  }
}

/** The API server's own words, however often the error was wrapped. */
function saidBy(error: DatastoreError): string {
  for (let at: unknown = error; at instanceof DatastoreError; at = at.cause) if (at.says !== undefined) return at.says;
  return error.message;
}

const usualInterface = "eth0";

function handleOf({ name }: NetworkConfiguration, { containerId }: PluginCall): string {
  return `${name}.${containerId}`;
}

function attributesOf({
  node,
  call,
  args: { pod },
  wallMs,
}: {
  node: string;
  call: PluginCall;
  args: PluginArguments;
  wallMs: number;
}): { readonly [name: string]: string } {
  return {
    ...(call.ifname === usualInterface ? {} : { interface: call.ifname }),
    ...(pod === undefined ? {} : { namespace: pod.namespace }),
    node,
    ...(pod === undefined ? {} : { pod: pod.name }),
    timestamp: goTime(wallMs),
  };
}

/** 2026-11-16 10:19:52.123 +0000 UTC: as Go prints a time, the fraction without zeros at its end. */
function goTime(wallMs: number): string {
  const [date = "", time = ""] = new Date(wallMs).toISOString().split("T");
  return `${date} ${time.replace("Z", "").replace(/\.?0+$/, "")} +0000 UTC`;
}
