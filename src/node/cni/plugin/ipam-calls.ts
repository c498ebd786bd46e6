// The IPAM plugin that the configuration names, from a folder of CNI_PATH, with the same variables and configuration. Where it is this very
// program under its other name, it is called in this process: that saves a start of Node for each pod.
import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import { isRecord, type JsonRecord, parseRange } from "../../../base/lib/index.ts";
import { runProgram } from "../../../base/linux/index.ts";
import { type IpamCalls, readIpamAnswer, withAnyCidrs } from "../../endpoints/index.ts";
import type { Backed } from "../backing.ts";
import { readNetworkConfiguration } from "../configuration.ts";
import { type Collected, collectAddresses } from "../ipam/collect-addresses.ts";
import type { IpamCall } from "../ipam/ipam-call.ts";
import { addAddresses, checkAddresses, releaseAddresses } from "../ipam/ipam-plugin.ts";
import { heldAddresses } from "../ipam/previous-result.ts";
import type { PluginOptions } from "../options.ts";
import type { PluginCall } from "../protocol/call.ts";
import { CniError, cniErrorCodes } from "../protocol/cni-error.ts";
import { checkedVersion } from "../protocol/versions.ts";

export type IpamCallsOptions = {
  readonly call: PluginCall;
  readonly plugin: PluginOptions;
  readonly backed: Backed;
};

const limitMs = 120_000;
const mostBytes = 1 << 20;

export function createIpamCalls(options: IpamCallsOptions): IpamCalls {
  const { backed, call } = options;
  return {
    add: async (configuration, address) => readIpamAnswer(await ask(options, "ADD", configuration, address)),
    check: async (configuration) => void (await ask(options, "CHECK", configuration)),
    del: async (configuration) => void (await ask(options, "DEL", configuration)),
    async release(addresses) {
      if (ipamType(call.configuration) !== "calico-ipam") return; // others release by container only
      const held = addresses.flatMap((text) => parseRange(text) ?? []);
      await backed.ipam.releaseIPs(held.map((address) => ({ address })));
    },
  };
}

/** STATUS of the IPAM plugin; ours is part of this program's own. */
export async function statusOfIpam(options: IpamCallsOptions): Promise<void> {
  const { configuration } = options.call;
  if (ipamType(configuration) !== "" && !isOurs(options, configuration))
    await ask(options, "STATUS", withAnyCidrs(configuration));
}

/** GC of the IPAM plugin. Whose addresses ours gave back; others do not say. */
export async function collectByIpam(options: IpamCallsOptions): Promise<readonly Collected[]> {
  const { configuration } = options.call;
  if (ipamType(configuration) === "") return [];
  if (isOurs(options, configuration)) return await collectAddresses(ownCall(options, options.call));
  await ask(options, "GC", withAnyCidrs(configuration));
  return [];
}

type Command = "ADD" | "CHECK" | "DEL" | "STATUS" | "GC";

async function ask(
  options: IpamCallsOptions,
  command: Command,
  given: JsonRecord,
  address?: string,
): Promise<JsonRecord | undefined> {
  const { call } = options;
  const configuration = { ...given, name: call.configuration.name };
  const args = [...withIgnoreUnknown(call.args), ...(address === undefined ? [] : [`IP=${address}`])].join(";");
  if (!isOurs(options, configuration)) {
    const file = find(ipamType(configuration), call.path);
    return await run(file, { options, command, configuration, args });
  }
  return await askOurs(ownCall(options, { ...call, command, args, configuration }));
}

async function askOurs(own: IpamCall): Promise<JsonRecord | undefined> {
  const { command, configuration } = own.call;
  const { cniVersion } = configuration;
  if (command === "ADD")
    return await addAddresses(own, checkedVersion(typeof cniVersion === "string" ? cniVersion : undefined));
  if (command === "DEL") await releaseAddresses(own);
  else if (heldAddresses(configuration.prevResult).length > 0) await checkAddresses(own);
  return undefined;
}

function ownCall({ plugin, backed }: IpamCallsOptions, call: PluginCall): IpamCall {
  const configuration = readNetworkConfiguration(call.configuration, plugin.variables);
  return { options: plugin, call, configuration, backed };
}

/** Throws CniError where there is no such plugin. */
export function isOurs(
  { plugin, call }: Pick<IpamCallsOptions, "plugin" | "call">,
  configuration: JsonRecord,
): boolean {
  const type = ipamType(configuration);
  return plugin.isOwnFile(find(type, call.path)) && type === "calico-ipam";
}

/** Runtimes pass on what other plugins read. */
function withIgnoreUnknown(args: string): string[] {
  return args === "" ? ["IgnoreUnknown=1"] : ["IgnoreUnknown=1", args];
}

function ipamType(configuration: JsonRecord): string {
  const { ipam } = configuration;
  return isRecord(ipam) && typeof ipam.type === "string" ? ipam.type : "";
}

function find(type: string, path: string): string {
  const folders = path.split(":").filter((folder) => folder !== "");
  const refused = (message: string) => new CniError(cniErrorCodes.other, message);
  if (type === "") throw refused("no plugin name provided");
  if (type.includes("/")) throw refused(`invalid plugin name: ${type}`);
  for (const folder of folders) {
    const file = join(folder, type);
    try {
      accessSync(file, constants.X_OK);
      if (statSync(file).isFile()) return file;
    } catch {
      // the next folder may have it
    }
  }
  throw refused(`failed to find plugin ${JSON.stringify(type)} in path [${folders.join(" ")}]`);
}

async function run(
  file: string,
  asked: { options: IpamCallsOptions; command: Command; configuration: JsonRecord; args: string },
): Promise<JsonRecord | undefined> {
  const { variables, signal } = asked.options.plugin;
  const texts = Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const env = { ...Object.fromEntries(texts), CNI_COMMAND: asked.command, CNI_ARGS: asked.args };
  const stdin = JSON.stringify(asked.configuration);
  const bounds = { limitMs, maxOutputBytes: mostBytes, alsoGood: [1], signal };
  const { code, stdout } = await runProgram(file, [], { stdin, env, ...bounds });
  const answer = stdout.trim() === "" ? undefined : parsed(stdout, file);
  if (code === 0) return answer;
  const { code: number, msg, details } = answer ?? {};
  const message = typeof msg === "string" ? msg : `${file} failed and did not say why`;
  throw new CniError(typeof number === "number" ? number : cniErrorCodes.other, message, {
    ...(typeof details === "string" ? { details } : {}),
  });
}

function parsed(text: string, file: string): JsonRecord {
  const failed = (cause?: unknown) =>
    new CniError(cniErrorCodes.decode, `${file} answered with what is no JSON object`, { cause });
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch (error) {
    throw failed(error);
  }
  throw failed();
}
