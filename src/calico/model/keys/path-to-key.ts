// A default path back to its key, by the rules of the original's clients: what they cannot read, neither can we.
import { canonicalCidr } from "../../../base/lib/index.ts";
import { type Key, unescapeName } from "./keys.ts";
import { resourceKindOfPlural } from "./resource-kinds.ts";

/** Undefined: no key has this path. */
export function pathToKey(path: string): Key | undefined {
  const isAbsolute = path.startsWith("/");
  const parts = (isAbsolute ? path.slice(1) : path).split("/");
  if (parts.length < 3 || parts[0] !== "calico") return undefined;
  switch (parts[1]) {
    case "v1":
      return v1Key(parts, isAbsolute);
    case "ipam":
      return parts[2] === "v2" ? ipamKey(parts) : undefined;
    case "bgp":
      return parts[2] === "v1" ? bgpKey(parts) : undefined;
    case "resources":
      return parts[2] === "v3" && isAbsolute ? resourceKey(parts) : undefined;
    default:
      return undefined;
  }
}

function v1Key(parts: readonly string[], isAbsolute: boolean): Key | undefined {
  switch (parts[2]) {
    case "ipam": {
      const [, , , version, pool, cidr] = parts;
      if (parts.length !== 6 || !/^v.$/u.test(version ?? "") || pool !== "pool") return undefined;
      return withCidr(cidr, (text) => ({ is: "IpPool", cidr: text }));
    }
    case "config":
      return { is: "GlobalConfig", name: parts.slice(3).join("/") };
    case "host":
      return hostKey(parts);
    case "netset":
      return parts.length === 4 ? { is: "NetworkSet", name: unescapeName(parts[3] ?? "") } : undefined;
    case "Ready":
      return parts.length === 3 && isAbsolute ? { is: "Ready" } : undefined;
    case "policy":
      return parts.length >= 5 ? policyKey(parts) : undefined;
    default:
      return undefined;
  }
}

function hostKey(parts: readonly string[]): Key | undefined {
  const rawHost = parts[3] ?? "";
  const hostname = unescapeName(rawHost);
  const part = (at: number) => unescapeName(parts[at] ?? "");
  switch (parts[4]) {
    case "workload":
      if (parts.length !== 9 || parts[7] !== "endpoint") return undefined;
      return {
        is: "WorkloadEndpoint",
        hostname,
        orchestratorId: part(5),
        workloadId: part(6),
        endpointId: part(8),
      };
    case "endpoint":
      return parts.length === 6 ? { is: "HostEndpoint", hostname, endpointId: part(5) } : undefined;
    case "config":
      return { is: "HostConfig", hostname, name: parts.slice(5).join("/") };
    case "metadata":
      return parts.length === 5 ? { is: "HostMetadata", hostname: rawHost } : undefined;
    case "wireguard":
      return parts.length === 5 ? { is: "Wireguard", nodeName: hostname } : undefined;
    default:
      return undefined;
  }
}

function policyKey(parts: readonly string[]): Key | undefined {
  const part = (at: number) => unescapeName(parts[at] ?? "");
  switch (parts[3]) {
    case "tier":
      if (parts[5] === "metadata" && parts.length === 6) return { is: "Tier", name: part(4) };
      if (parts[5] === "policy" && parts.length === 7) return { is: "LegacyPolicy", tier: part(4), name: part(6) };
      return undefined;
    case "profile":
      // The original does not look at what follows; and with nothing there it crashes.
      if (parts[5] === "rules") return { is: "ProfileRules", name: part(4) };
      if (parts[5] === "labels") return { is: "ProfileLabels", name: part(4) };
      return undefined;
    default:
      if (parts.length !== 6) return undefined;
      return { is: "Policy", kind: part(3), namespace: part(4), name: part(5) };
  }
}

function ipamKey(parts: readonly string[]): Key | undefined {
  const isBlock = (at: number) => /^ipv.$/u.test(parts[at] ?? "") && parts[at + 1] === "block";
  switch (parts[3]) {
    case "assignment":
      if (parts.length !== 7 || !isBlock(4)) return undefined;
      return withCidr(parts[6], (cidr) => ({ is: "Block", cidr }));
    case "handle":
      return parts.length === 5 ? { is: "IpamHandle", handleId: parts[4] ?? "" } : undefined;
    case "host": {
      const host = parts[4] ?? "";
      if (parts.length !== 8 || host === "" || !isBlock(5)) return undefined;
      return withCidr(parts[7], (cidr) => ({ is: "BlockAffinity", affinityType: "host", host, cidr }));
    }
    default:
      return undefined;
  }
}

function bgpKey(parts: readonly string[]): Key | undefined {
  const [, , , scope, nodeName = ""] = parts;
  const name = parts.slice(scope === "host" ? 5 : 4).join("/");
  if (name === "") return undefined;
  if (scope === "global") return { is: "GlobalBgpConfig", name };
  return scope === "host" && nodeName !== "" ? { is: "NodeBgpConfig", nodeName, name } : undefined;
}

function resourceKey(parts: readonly string[]): Key | undefined {
  if (parts[3] !== "projectcalico.org" || (parts.length !== 6 && parts.length !== 7)) return undefined;
  const info = resourceKindOfPlural(unescapeName(parts[4] ?? ""));
  const isNamespaced = parts.length === 7;
  if (info === undefined || info.isNamespaced !== isNamespaced) return undefined;
  const name = unescapeName(parts.at(-1) ?? "");
  return { is: "Resource", kind: info.kind, namespace: isNamespaced ? unescapeName(parts[5] ?? "") : "", name };
}

/** The first dash stands for the slash. */
function withCidr(part: string | undefined, make: (cidr: string) => Key): Key | undefined {
  const text = (part ?? "").replace("-", "/");
  if (/\/0[0-9]/.test(text)) return undefined; // here the original's parser is stricter than for the objects' own CIDRs
  const network = canonicalCidr(text);
  return network === undefined ? undefined : make(network.text);
}
