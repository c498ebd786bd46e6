// Lists of networks as users write them: each a CIDR or an address. The original drops what is none; so this does, and says
// so.
import { canonicalNetwork } from "../../../base/lib/index.ts";
import type { Warning } from "../processor/processor.ts";

type NetworksContext = {
  /** That of the list. */
  readonly field: string;
  readonly effect: Warning["effect"];
  /** What comes of it when one is left out, for the user. */
  readonly consequence?: string;
  readonly warnings: Warning[];
};

/** In canonical form. */
export function readNetworks(texts: readonly string[] | undefined, context: NetworksContext): readonly string[] {
  const { field, effect, consequence = "", warnings } = context;
  const networks: string[] = [];
  for (const [at, text] of (texts ?? []).entries()) {
    const network = canonicalNetwork(text);
    if (network !== undefined) networks.push(network.text);
    else warnings.push({ field: `${field}[${at}]`, rule: `must be a CIDR or an IP address${consequence}`, effect });
  }
  return networks;
}
