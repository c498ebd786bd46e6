// What hosts answer to ARP: everything on a pod's interface (proxy_arp), but never that the pod's own address is the host's. A pod that looks
// whether somebody else has its address would believe it.
import { addressText } from "../../../base/lib/index.ts";
import type { Endpoint } from "../../../calico/policy/index.ts";
import { comment, isInterfaceName } from "./names.ts";
import { NftRuleset } from "./ruleset.ts";

const set = "own-addresses";

export class OwnAddresses {
  readonly ruleset = new NftRuleset("arp");
  /** Keys of the set by endpoint, and how many endpoints have one. */
  readonly #keysOf = new Map<string, ReadonlySet<string>>();
  readonly #users = new Map<string, number>();

  constructor() {
    this.ruleset.declareSet(set, "type ifname . ipv4_addr;");
    this.ruleset.setChain("arp-output", {
      hook: "type filter hook output priority 0; policy accept;",
      rules: [
        `arp operation reply oifname . arp saddr ip @${set} counter drop ${comment("the address is the pod's own")}`,
      ],
    });
  }

  take(id: string, endpoint: Endpoint | undefined): void {
    const before = this.#keysOf.get(id) ?? new Set<string>();
    const now = new Set(endpoint === undefined ? [] : keysOf(endpoint));
    if (now.size === 0) this.#keysOf.delete(id);
    else this.#keysOf.set(id, now);
    const removed = [...before.difference(now)].filter((key) => this.#count(key, -1) === 0);
    const added = [...now.difference(before)].filter((key) => this.#count(key, 1) === 1);
    this.ruleset.changeElements(set, { added, removed });
  }

  #count(key: string, by: 1 | -1): number {
    const users = (this.#users.get(key) ?? 0) + by;
    if (users === 0) this.#users.delete(key);
    else this.#users.set(key, users);
    return users;
  }
}

function keysOf(endpoint: Endpoint): readonly string[] {
  const { is, interfaceName, addresses } = endpoint;
  if (is !== "workload" || !isInterfaceName(interfaceName)) return [];
  return addresses.flatMap(({ family, first }) =>
    family === 4 ? [`"${interfaceName}" . ${addressText(family, first)}`] : [],
  );
}
