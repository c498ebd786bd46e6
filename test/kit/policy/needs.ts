// Why packets cannot be tried here; false: they can.
import { spawnSync } from "node:child_process";
import { noNamespaces } from "../namespace.ts";

const missing = ["nft", "ip", "conntrack"].filter((program) => spawnSync(program, ["--version"]).error !== undefined);

export const noPolicyLab: string | false =
  noNamespaces || (missing.length === 0 ? false : `needs ${missing.join(", ")}`);
