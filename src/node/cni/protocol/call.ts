// What a runtime asks of a plugin: variables, and the network configuration on standard input. Checked in the order and with the
// words of the protocol's own library, because runtimes and their users know these.
import { goJsonProblem, isRecord, type JsonRecord } from "../../../base/lib/index.ts";
import { CniError, cniErrorCodes } from "./cni-error.ts";
import { seenAs, withPlainNames } from "./netconf-types.ts";

export type Variables = { readonly [name: string]: string | undefined };

export type PluginCall = {
  readonly command: string;
  readonly containerId: string;
  /** Empty where a runtime does not know it any more. */
  readonly netns: string;
  readonly ifname: string;
  readonly args: string;
  readonly path: string;
  readonly configuration: JsonRecord & { readonly name: string };
};

const withContainer = ["ADD", "CHECK", "DEL"];
const required: readonly (readonly [name: string, commands: readonly string[]])[] = [
  ["CNI_COMMAND", ["ADD", "CHECK", "DEL", "GC", "STATUS"]],
  ["CNI_CONTAINERID", withContainer],
  ["CNI_NETNS", ["ADD", "CHECK"]],
  ["CNI_IFNAME", withContainer],
  ["CNI_PATH", ["ADD", "CHECK", "DEL", "GC", "STATUS"]],
];

/** Throws CniError. */
export function readCall(variables: Variables, stdin: string): PluginCall {
  const command = variables.CNI_COMMAND ?? "";
  const { CNI_CONTAINERID: containerId = "", CNI_IFNAME: ifname = "" } = variables;
  if (withContainer.includes(command)) {
    if (containerId !== "") checkContainerId(containerId);
    if (ifname !== "") checkInterfaceName(ifname);
  }
  const missing = required
    .filter(([name, commands]) => !variables[name] && (name === "CNI_COMMAND" || commands.includes(command)))
    .map(([name]) => name);
  if (missing.length > 0) {
    throw new CniError(cniErrorCodes.environment, `required env variables [${missing.join(",")}] missing`);
  }
  const configuration = readConfiguration(stdin);
  const { CNI_NETNS: netns = "", CNI_ARGS: args = "", CNI_PATH: path = "" } = variables;
  return { command, containerId, netns, ifname, args, path, configuration };
}

const nameForm = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

function readConfiguration(stdin: string): JsonRecord & { readonly name: string } {
  const configuration = parsed(stdin);
  const name = textOf(configuration, "name");
  if (name === "") throw new CniError(cniErrorCodes.configuration, "missing network name");
  if (!nameForm.test(name)) {
    throw new CniError(cniErrorCodes.configuration, "invalid characters found in network name", { details: name });
  }
  return { ...configuration, name };
}

/** Empty: nothing is said. */
function textOf(configuration: JsonRecord, name: string): string {
  const value = (Object.hasOwn(configuration, name) ? configuration[name] : undefined) ?? "";
  if (typeof value === "string") return value;
  const failed = name === "cniVersion" ? "decoding version from network config" : "error unmarshall network config";
  const why = `json: cannot unmarshal ${seenAs(value)} into Go struct field .${name} of type string`;
  throw new CniError(cniErrorCodes.decode, `${failed}: ${why}`);
}

/** Undefined: the configuration names none. */
export function configuredVersion(configuration: JsonRecord): string | undefined {
  return textOf(configuration, "cniVersion") || undefined;
}

/** `null` is a configuration that says nothing, as in Go. */
function parsed(stdin: string): JsonRecord {
  const refused = (why: string) => new CniError(cniErrorCodes.decode, `error unmarshall network config: ${why}`);
  const problem = goJsonProblem(stdin);
  if (problem !== undefined) throw refused(problem);
  const value: unknown = JSON.parse(stdin) ?? {};
  if (isRecord(value)) return withPlainNames(value);
  throw refused(
    `json: cannot unmarshal ${seenAs(value)} into Go value of type struct { Name string "json:\\"name\\"" }`,
  );
}

function checkContainerId(containerId: string): void {
  if (nameForm.test(containerId)) return;
  throw new CniError(cniErrorCodes.environment, "invalid characters in containerID", { details: containerId });
}

/** The kernel's limit, without the byte that ends a name. */
const longestInterfaceName = 15;

function checkInterfaceName(name: string): void {
  const refused = (message: string, details?: string) =>
    new CniError(cniErrorCodes.environment, message, details === undefined ? {} : { details });
  if (name.length > longestInterfaceName) {
    throw refused("interface name is too long", "interface name should be less than 16 characters");
  }
  if (name === "." || name === "..") throw refused("interface name is . or ..");
  if (/[/:\s]/.test(name)) throw refused("interface name contains / or : or whitespace characters");
}
