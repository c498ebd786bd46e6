// Where a new object's file goes: PLURAL/NAME.yaml, and PLURAL/NAMESPACE/NAME.yaml for kinds with namespaces.
//
//   ippools/default-ipv4-ippool.yaml
//   networkpolicies/shop/allow-dns.yaml                        Calico's and the core's kinds by their plural
//   networkpolicies.networking.k8s.io/shop/allow-dns.yaml      other groups with their name
//
// Only lower-case letters, digits, "-", "_" and dots that do not come first stay as they are; every other byte becomes %XX. So no name leads out of
// the folder or is hidden, two names never share a file where upper and lower case are one, and the name can be read back. (Nothing needs to: an
// object says its own name, and a file may have any.)
import { createHash } from "node:crypto";
import type { Kind } from "../../kinds/index.ts";
import type { ObjectId } from "../datastore.ts";
import { calicoGroups } from "../kubernetes/paths.ts";
import { manifestType } from "./recognise.ts";

/** File systems end a name at 255 bytes; a temporary name beside it is 22 longer (base/linux, replaceFile). */
const longestName = 220;

/** Relative to the folder, with "/" between. `attempt` makes another one, for when a file of that name holds something else. */
export function fileNameOf(kind: Kind, { namespace, name }: ObjectId, attempt = 0): string {
  const parts = [folderNameOf(kind), ...(namespace === "" ? [] : [escapeName(namespace)])];
  // No escaped name has a % that two hexadecimal digits do not follow.
  return [...parts, `${escapeName(name)}${attempt === 0 ? "" : `%_${attempt}`}.yaml`].join("/");
}

function folderNameOf(kind: Kind): string {
  const { plural, group } = manifestType(kind, "crd.projectcalico.org");
  const isPlain = group === "" || (calicoGroups as readonly string[]).includes(group);
  return isPlain ? plural : `${plural}.${group}`;
}

export function escapeName(name: string): string {
  let escaped = "";
  for (const byte of Buffer.from(name, "utf8")) {
    const isSafe =
      (byte >= 0x61 && byte <= 0x7a) ||
      (byte >= 0x30 && byte <= 0x39) ||
      byte === 0x2d ||
      byte === 0x5f ||
      byte === 0x2e;
    const isHidden = byte === 0x2e && escaped === "";
    escaped += isSafe && !isHidden ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, "0")}`;
  }
  if (escaped.length <= longestName) return escaped;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, 32);
  return `${escaped.slice(0, longestName - 40).replace(/%.?$/, "")}%_${digest}`;
}

/** Undefined for a name that was cut because it is too long. */
export function unescapeName(escaped: string): string | undefined {
  if (!/^(?:%[0-9a-f]{2}|[a-z0-9._-])*$/.test(escaped)) return undefined;
  try {
    return decodeURIComponent(escaped);
  } catch {
    return undefined; // a lone half of a character, which UTF-8 cannot hold
  }
}

/** What the datastore itself needs in the folder: its lock and its memory of revisions. */
export const ownFolder = ".cattail";

/** What editors and other programs leave in a folder for a while: it is nobody's manifest. */
export function isPassingName(name: string): boolean {
  return name.startsWith(".") || name.startsWith("#") || /(?:~|\.(?:swp|swx|swo|tmp|bak|orig|rej))$/i.test(name);
}
