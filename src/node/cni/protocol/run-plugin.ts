// What every CNI plugin does around its work: read what is asked, check that it can be asked, and answer on standard output, with nothing
// else there. Takes its surroundings as values, so that it can be tried without a process.
import type { JsonRecord } from "../../../base/lib/index.ts";
import { configuredVersion, type PluginCall, readCall, type Variables } from "./call.ts";
import { CniError, cniErrorCodes, cniErrorJson, toCniError } from "./cni-error.ts";
import { type CniVersion, checkedVersion, mustHaveCommand, supportedVersions, versionAnswer } from "./versions.ts";

export type Plugin = {
  /** What is said, on standard error, to a person who starts it by hand. */
  readonly about: string;
  add(call: PluginCall, version: CniVersion): Promise<JsonRecord>;
  check(call: PluginCall): Promise<void>;
  /** What a CHECK that found nothing wrong prints, which runtimes pass over: the original's plugins do not agree. */
  readonly saysChecked: string;
  del(call: PluginCall): Promise<void>;
  /** Throws why no pod could be added now. */
  status(call: PluginCall): Promise<void>;
  /** Gives back what belongs to containers that are not in the configuration's list. */
  collect(call: PluginCall): Promise<void>;
};

export type Answered = { readonly exitCode: number; readonly stdout: string; readonly stderr: string };

export async function runPlugin(
  plugin: Plugin,
  variables: Variables,
  readStdin: () => Promise<string>,
): Promise<Answered> {
  if ((variables.CNI_COMMAND ?? "") === "") return { exitCode: 0, stdout: "", stderr: about(plugin) };
  try {
    const said = await answered(plugin, variables, readStdin);
    return { exitCode: 0, stdout: typeof said === "string" ? said : `${JSON.stringify(said)}\n`, stderr: "" };
  } catch (error) {
    return { exitCode: 1, stdout: `${cniErrorJson(toCniError(error))}\n`, stderr: "" };
  }
}

function about(plugin: Plugin): string {
  return `${plugin.about}\nCNI protocol versions supported: ${supportedVersions.join(", ")}\n`;
}

/** A text is printed as it is. */
async function answered(
  plugin: Plugin,
  variables: Variables,
  readStdin: () => Promise<string>,
): Promise<JsonRecord | string> {
  if (variables.CNI_COMMAND === "VERSION") return versionAnswer;
  const call = readCall(variables, await readStdin());
  const configured = configuredVersion(call.configuration);
  switch (call.command) {
    case "ADD":
      return await plugin.add(call, checkedVersion(configured));
    case "DEL":
      checkedVersion(configured);
      await plugin.del(call);
      return "";
    case "CHECK":
      mustHaveCommand("CHECK", configured, "0.4.0");
      checkedVersion(configured);
      await plugin.check(call);
      return plugin.saysChecked;
    case "STATUS":
    case "GC":
      mustHaveCommand(call.command, configured, "1.1.0");
      checkedVersion(configured);
      await (call.command === "GC" ? plugin.collect(call) : saysStatus(plugin, call));
      return "";
    default:
      throw new CniError(cniErrorCodes.environment, `unknown CNI_COMMAND: ${call.command}`);
  }
}

/** Whatever the reason, the runtime learns that it should not start pods now. */
async function saysStatus(plugin: Plugin, call: PluginCall): Promise<void> {
  try {
    await plugin.status(call);
  } catch (error) {
    const { message, details } = toCniError(error);
    throw new CniError(cniErrorCodes.notAvailable, message, {
      cause: error,
      ...(details === undefined ? {} : { details }),
    });
  }
}
