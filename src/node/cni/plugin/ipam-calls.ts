// The IPAM plugin that the configuration names, from a folder of CNI_PATH, with the same variables and configuration. Where it is this very
// program under its other name, it is called in this process: that saves a start of Node for each pod.
import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import { goJsonProblem, isRecord, type JsonRecord, parseRange } from "../../../base/lib/index.ts";
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
    async add(configuration, address) {
      const answer = await ask(options, "ADD", configuration, address);
      try {
        return readIpamAnswer(answer);
      } catch (error) {
        // It has taken something, and nobody will ever know what. That this failed too is told by the DEL that follows.
        await ask(options, "DEL", configuration).catch(() => undefined);
        throw error;
      }
    },
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
  const bounds = { limitMs, maxOutputBytes: mostBytes, alsoGood: everyCode, signal };
  const { code, stdout, stderr } = await runProgram(file, [], { stdin, env, ...bounds });
  if (code !== 0) throw failure(stdout, stderr, code);
  return asked.command === "ADD" ? readAnswer(stdout) : undefined;
}

/** What it says is read whatever the code: a plugin that fails says why on standard output. */
const everyCode = Array.from({ length: 255 }, (_, at) => at + 1);

/** In the words of the library that Go's plugins call each other with. Throws CniError. */
export function readAnswer(text: string): JsonRecord {
  const refused = (why: string) => new CniError(cniErrorCodes.other, `failed to unmarshal raw result: ${why}`);
  const problem = goJsonProblem(text);
  if (problem !== undefined) throw refused(problem);
  const value: unknown = JSON.parse(text);
  if (isRecord(value)) return value;
  throw refused("it is no object");
}

export function failure(stdout: string, stderr: string, exitCode: number): CniError {
  const failed = (why: string) => new CniError(cniErrorCodes.other, why);
  if (stdout === "" && stderr === "") return failed(`netplugin failed with no error message: exit status ${exitCode}`);
  if (stdout === "") return failed(`netplugin failed: ${JSON.stringify(stderr)}`);
  const problem = goJsonProblem(stdout);
  if (problem !== undefined) {
    const said = JSON.stringify(stdout);
    return failed(`netplugin failed but error parsing its diagnostic message ${said}: ${problem}`);
  }
  const value: unknown = JSON.parse(stdout);
  const { code, msg, details } = isRecord(value) ? value : {};
  const more = typeof details === "string" && details !== "" ? { details } : {};
  return new CniError(
    typeof code === "number" && code !== 0 ? code : cniErrorCodes.other,
    typeof msg === "string" && msg !== "" ? msg : `netplugin failed: exit status ${exitCode}`,
    more,
  );
}
