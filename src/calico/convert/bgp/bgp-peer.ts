// BGPPeer, passed through.
import { bgpPeerSpec, specProblems } from "../../kinds/index.ts";
import type { Processor } from "../processor/processor.ts";
import { createPassThroughProcessor } from "../processor/whole-object.ts";
import type { BgpOptions } from "./bgp-options.ts";

export function createBgpPeerProcessor({ passesFaulty = false }: BgpOptions = {}): Processor {
  return createPassThroughProcessor({
    passesFaulty,
    kind: "BGPPeer",
    schema: bgpPeerSpec,
    problem: ({ spec }) => specProblems("BGPPeer", spec)[0],
  });
}
