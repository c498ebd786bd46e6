// What the program that a runtime starts (bin/cni-plugin.cjs) says to the agent, and what it is told. The envelope around it is
// base/linux's. Plugin and agent are upgraded one after the other, so each bears what it does not know:
//
//   ─▶ {"protocol":1,"plugin":"calico","variables":{...},"stdin":"...","seen":{"node":"4:41","pod":"4:99"},"ipam":{"file":"/opt/cni/bin/calico-ipam","id":"5:3","isOwn":true}}
//   ◀─ {"protocol":1,"is":"answered","exitCode":0,"stdout":"...","stderr":"..."}
//   ◀─ {"protocol":1,"is":"not mine","why":"..."}            the plugin does the work itself
//
// New members may be added to either; a request that an agent of this protocol would serve wrongly gets a higher number.
import { isRecord } from "../../../base/lib/index.ts";
import type { Variables } from "../protocol/call.ts";

const residentProtocol = 1;
export const residentCall = "cni";

/** Which file it is, whatever path leads to it: device and inode. */
export type FileId = string;

export type ResidentRequest = {
  readonly plugin: "calico" | "calico-ipam";
  readonly variables: Variables;
  readonly stdin: string;
  /** Network namespaces as the plugin sees them; undefined: there is none, or it cannot be seen. */
  readonly seen: { readonly node: FileId | undefined; readonly pod: FileId | undefined };
  /** The IPAM plugin that CNI_PATH leads to; undefined: none. */
  readonly ipam: { readonly file: string; readonly id: FileId; readonly isOwn: boolean } | undefined;
};

export type ResidentAnswer =
  | { readonly is: "answered"; readonly exitCode: number; readonly stdout: string; readonly stderr: string }
  | { readonly is: "not mine"; readonly why: string };

/** A text: why it cannot be served. */
export function readResidentRequest(body: unknown): ResidentRequest | string {
  if (!isRecord(body)) return "the request is no object";
  const { protocol, plugin, variables, stdin, seen, ipam } = body;
  if (protocol !== residentProtocol) return `protocol ${JSON.stringify(protocol)} is not spoken here`;
  if (plugin !== "calico" && plugin !== "calico-ipam") return `there is no plugin ${JSON.stringify(plugin)} here`;
  if (!isRecord(variables) || typeof stdin !== "string" || !isRecord(seen)) return "the request is not complete";
  const given = Object.entries(variables).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return {
    plugin,
    variables: Object.fromEntries(given),
    stdin,
    seen: { node: textOf(seen.node), pod: textOf(seen.pod) },
    ipam: readIpam(ipam),
  };
}

function readIpam(value: unknown): ResidentRequest["ipam"] {
  if (!isRecord(value)) return undefined;
  const { file, id, isOwn } = value;
  return typeof file === "string" && typeof id === "string" ? { file, id, isOwn: isOwn === true } : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
