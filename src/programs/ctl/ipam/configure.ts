// ctl ipam configure: IPAM's settings, one line for each that was set.
import { type IpamConfig, isIpamError } from "../../../calico/ipam-client/index.ts";
import { isResourceError } from "../../../calico/resources/index.ts";
import type { Invocation, Run } from "../command.ts";
import { CtlError } from "../console.ts";
import { goInteger, goTruth } from "./go-number.ts";
import { ipamOf } from "./open-ipam.ts";

export const run: Run = async (invocation, console) => {
  const change = changeGiven(invocation);
  const ipam = ipamOf(await invocation.connect());
  const { signal } = console;
  try {
    await ipam.setConfig({ ...(await ipam.getConfig({ signal })), ...change }, { signal });
  } catch (error) {
    if (isIpamError(error) || isResourceError(error)) throw new CtlError(`error: ${error.message}`, { cause: error });
    throw error;
  }
  for (const [field, property] of properties) {
    if (change[field] !== undefined) console.out(`Successfully set ${property} to: ${change[field]}\n`);
  }
  return 0;
};

/** In the order in which they are told. */
const properties = [
  ["strictAffinity", "StrictAffinity"],
  ["maxBlocksPerHost", "MaxBlocksPerHost"],
  ["kubeVirtVMAddressPersistence", "KubeVirtVMAddressPersistence"],
  ["cooldownSeconds", "IPCooldownSeconds"],
] as const satisfies readonly (readonly [keyof IpamConfig, string])[];

/** An empty value is none, and so is a cooldown below 0. */
function changeGiven(invocation: Invocation): Partial<IpamConfig> {
  const cooldownSeconds = cooldownGiven(invocation.value("ip-cooldown-seconds") ?? "");
  const strict = invocation.value("strictaffinity") ?? "";
  const blocks = invocation.value("max-blocks-per-host") ?? "";
  const persistence = invocation.value("kubevirt-ip-persistence") ?? "";
  if (strict === "" && blocks === "" && persistence === "" && cooldownSeconds === undefined) {
    throw new CtlError("at least one configuration option must be specified");
  }
  return {
    ...(strict === "" ? {} : { strictAffinity: truthGiven(strict) }),
    ...(blocks === "" ? {} : { maxBlocksPerHost: blocksGiven(blocks) }),
    ...(persistence === "" ? {} : { kubeVirtVMAddressPersistence: persistenceGiven(persistence) }),
    ...(cooldownSeconds === undefined ? {} : { cooldownSeconds }),
  };
}

function truthGiven(text: string): boolean {
  const truth = goTruth(text);
  if (truth === undefined) throw new CtlError("invalid value. Use true or false to set strictaffinity");
  return truth;
}

function blocksGiven(text: string): number {
  const blocks = goInteger(text, "strconv.Atoi");
  if (blocks.is === "problem") throw new CtlError("invalid value for maxblockhost. Use a valid number");
  return blocks.value;
}

function persistenceGiven(text: string): "Enabled" | "Disabled" {
  if (text === "Enabled" || text === "Disabled") return text;
  throw new CtlError("invalid value for --kubevirt-ip-persistence. Use Enabled or Disabled");
}

function cooldownGiven(text: string): number | undefined {
  if (text === "") return undefined;
  const seconds = goInteger(text, "strconv.ParseInt");
  if (seconds.is === "number") return seconds.value < 0 ? undefined : seconds.value;
  throw new CtlError(`invalid argument ${JSON.stringify(text)} for "--ip-cooldown-seconds" flag: ${seconds.says}`);
}
