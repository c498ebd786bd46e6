// CNI_ARGS: pairs that a runtime passes on, among them which pod it is, and an address that is asked for by name.
import { parseIp } from "../../../base/lib/index.ts";
import { CniError, cniErrorCodes } from "./cni-error.ts";

export type PluginArguments = {
  /** Undefined: this is no pod of Kubernetes. */
  readonly pod: { readonly namespace: string; readonly name: string } | undefined;
  readonly address: string | undefined;
  /** Of the pod that the sandbox is for, where the runtime says it. */
  readonly uid: string | undefined;
};

const known = ["IgnoreUnknown", "IP", "K8S_POD_NAMESPACE", "K8S_POD_NAME", "K8S_POD_INFRA_CONTAINER_ID", "K8S_POD_UID"];

/** Throws CniError. */
export function readArguments(text: string): PluginArguments {
  const pairs = new Map<string, string>();
  const unknown: string[] = [];
  for (const pair of text === "" ? [] : text.split(";")) {
    const [name = "", value, more] = pair.split("=");
    if (value === undefined || more !== undefined) throw refused(`invalid pair ${JSON.stringify(pair)}`);
    if (name === "IgnoreUnknown") isTrue(value); // which throws what it is not
    if (known.includes(name)) pairs.set(name, value);
    else unknown.push(pair);
  }
  if (unknown.length > 0 && !isTrue(pairs.get("IgnoreUnknown") ?? "false")) {
    throw refused(`unknown args [${unknown.map((pair) => JSON.stringify(pair)).join(" ")}]`);
  }
  const address = pairs.get("IP") || undefined;
  if (address !== undefined && parseIp(address) === undefined) {
    throw refused(`error parsing value of pair ${JSON.stringify(`IP=${address}`)}: invalid IP address: ${address}`);
  }
  const namespace = pairs.get("K8S_POD_NAMESPACE") ?? "";
  const name = pairs.get("K8S_POD_NAME") ?? "";
  return {
    pod: namespace === "" || name === "" ? undefined : { namespace, name },
    address,
    uid: pairs.get("K8S_POD_UID") || undefined,
  };
}

function isTrue(text: string): boolean {
  const lower = text.toLowerCase();
  if (lower === "1" || lower === "true") return true;
  if (lower === "0" || lower === "false") return false;
  throw refused(`error parsing value of pair "IgnoreUnknown=${text}": boolean unmarshal error: invalid input ${text}`);
}

function refused(says: string): CniError {
  return new CniError(cniErrorCodes.other, `ARGS: ${says}`);
}
