// GC's list of what is valid: attachments of containers to the network, by the protocol's own name in the configuration.
import { isRecord, type JsonRecord } from "../../../base/lib/index.ts";
import { CniError, cniErrorCodes } from "./cni-error.ts";

export type ReadPod = { readonly namespace: string; readonly name: string };

const names = ["cni.dev/valid-attachments", "cni.dev/attachments"];

/** Throws CniError where there is no list: that nothing is valid must be said. */
export function validContainers(configuration: JsonRecord): ReadonlySet<string> {
  for (const name of names) {
    const list = Object.hasOwn(configuration, name) ? configuration[name] : undefined;
    if (!Array.isArray(list)) continue;
    const ids = list.map((each) => (isRecord(each) ? each.containerID : undefined));
    if (ids.every((id) => typeof id === "string" && id !== "")) return new Set(ids as string[]); // just looked at
    throw refused(`${name} has an entry without containerID`);
  }
  throw refused(`${names[0]} is missing or no list`);
}

function refused(message: string): CniError {
  return new CniError(cniErrorCodes.configuration, message, {
    details: "GC needs the list of attachments that are valid: an empty list says that there are none",
  });
}
