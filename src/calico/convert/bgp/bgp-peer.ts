// BGPPeer, passed through.
import { bgpPeerSpec, specProblems } from "../../kinds/index.ts";
import type { Processor } from "../processor/processor.ts";
import { createPassThroughProcessor } from "../processor/whole-object.ts";

export function createBgpPeerProcessor(): Processor {
  return createPassThroughProcessor({
    kind: "BGPPeer",
    schema: bgpPeerSpec,
    problem: ({ spec }) => specProblems("BGPPeer", spec)[0],
  });
}
