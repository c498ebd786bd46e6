// The node's AS number: what AS says, plain or dotted, else what the Node has.
import type { Log } from "../../base/lib/index.ts";
import type { V3Object } from "../../calico/resources/index.ts";
import { bgpOf } from "./addresses/configure.ts";
import type { NodeSettings } from "./settings/table.ts";
import { startupError } from "./startup-error.ts";

/** Undefined: it stays as it is. */
export function newAsNumber(node: V3Object, { asNumber, backend }: NodeSettings, log: Log): number | undefined {
  if (backend === "none") return undefined;
  const stored = bgpOf(node.spec)?.asNumber;
  if (asNumber === "") {
    if (stored === undefined) log.info("No AS number configured on node resource, using global value");
    else log.info(`Using AS number ${stored} configured in node resource`);
    return undefined;
  }
  const number = parseAsNumber(asNumber);
  if (number === undefined) {
    throw startupError(`The AS number specified in the environment (AS=${asNumber}) is not valid`, {
      next: "Set AS to a number up to 4294967295, or to two up to 65535 with a dot between",
    });
  }
  log.info(`Using AS number specified in environment (AS=${number})`);
  return stored === number ? undefined : number;
}

function parseAsNumber(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) < 2 ** 32 ? Number(text) : undefined;
  const [, high, low] = /^(\d+)\.(\d+)$/.exec(text) ?? [];
  if (high === undefined || Number(high) > 0xffff || Number(low) > 0xffff) return undefined;
  return Number(high) * 0x10000 + Number(low);
}
