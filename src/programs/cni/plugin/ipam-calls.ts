// The IPAM plugin that the configuration names, from a folder of CNI_PATH, with the same variables and configuration. Where it is this very
// program under its other name, it is called in this process: that saves a start of Node for each pod.
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { isRecord, type JsonRecord, parseRange } from "../../../base/lib/index.ts";
import { runProgram } from "../../../base/linux/index.ts";
import type { Datastore } from "../../../calico/datastore/index.ts";
import { openIpam, openIpamAccess } from "../../../calico/ipam-client/index.ts";
import { type IpamCalls, readIpamAnswer } from "../../../node/endpoints/index.ts";
import { createIpamPlugin, type IpamPluginOptions } from "../ipam/ipam-plugin.ts";
import type { PluginCall } from "../protocol/call.ts";
import { CniError, cniErrorCodes } from "../protocol/cni-error.ts";
import { checkedVersion } from "../protocol/versions.ts";

export type IpamCallsOptions = {
  readonly call: PluginCall;
  readonly plugin: IpamPluginOptions;
  readonly datastore: Datastore;
  /** Files that are this program, by their real paths. */
  readonly ownFiles: readonly string[];
};

const limitMs = 120_000;
const mostBytes = 1 << 20;

export function createIpamCalls(options: IpamCallsOptions): IpamCalls {
  const { plugin, datastore, call } = options;
  return {
    add: async (configuration, address) => readIpamAnswer(await ask(options, "ADD", configuration, address)),
    check: async (configuration) => void (await ask(options, "CHECK", configuration)),
    del: async (configuration) => void (await ask(options, "DEL", configuration)),
    async release(addresses) {
      if (ipamType(call.configuration) !== "calico-ipam") return; // others release by container only
      const edge = { clock: plugin.clock, random: plugin.random };
      const ipam = openIpam(openIpamAccess(datastore, edge), edge);
      const held = addresses.flatMap((text) => parseRange(text) ?? []);
      await ipam.releaseIPs(held.map((address) => ({ address })));
    },
  };
}

async function ask(
  options: IpamCallsOptions,
  command: "ADD" | "CHECK" | "DEL",
  given: JsonRecord,
  address?: string,
): Promise<unknown> {
  const { call } = options;
  const configuration = { ...given, name: call.configuration.name };
  const args = [...withIgnoreUnknown(call.args), ...(address === undefined ? [] : [`IP=${address}`])].join(";");
  const type = ipamType(configuration);
  const file = find(type, call.path);
  if (type !== "calico-ipam" || !options.ownFiles.includes(realpathSync(file))) {
    return await run(file, { options, command, configuration, args });
  }
  const ours = createIpamPlugin(options.plugin);
  const asked = { ...call, command, args, configuration };
  const { cniVersion } = call.configuration;
  if (command === "ADD")
    return await ours.add(asked, checkedVersion(typeof cniVersion === "string" ? cniVersion : undefined));
  await (command === "DEL" ? ours.del(asked) : ours.check(asked));
  return undefined;
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
  if (type.includes("/")) throw refused(`invalid plugin name: ${type}`);
  for (const folder of type === "" ? [] : folders) {
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
  asked: { options: IpamCallsOptions; command: string; configuration: JsonRecord; args: string },
): Promise<unknown> {
  const { variables } = asked.options.plugin;
  const texts = Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const env = { ...Object.fromEntries(texts), CNI_COMMAND: asked.command, CNI_ARGS: asked.args };
  const stdin = JSON.stringify(asked.configuration);
  const { code, stdout } = await runProgram(file, [], {
    stdin,
    env,
    limitMs,
    maxOutputBytes: mostBytes,
    alsoGood: [1],
  });
  const answer = stdout.trim() === "" ? undefined : parsed(stdout, file);
  if (code === 0) return answer;
  const { code: number, msg, details } = isRecord(answer) ? answer : {};
  const message = typeof msg === "string" ? msg : `${file} failed and did not say why`;
  throw new CniError(typeof number === "number" ? number : cniErrorCodes.other, message, {
    ...(typeof details === "string" ? { details } : {}),
  });
}

function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CniError(cniErrorCodes.decode, `${file} answered with what is no JSON`, { cause: error });
  }
}
