// BGPFilter, passed through.
import { bgpFilterSpec, specProblems } from "../../kinds/index.ts";
import type { Processor } from "../processor/processor.ts";
import { createPassThroughProcessor } from "../processor/whole-object.ts";
import type { BgpOptions } from "./bgp-options.ts";

export function createBgpFilterProcessor({ passesFaulty = false }: BgpOptions = {}): Processor {
  return createPassThroughProcessor({
    passesFaulty,
    kind: "BGPFilter",
    schema: bgpFilterSpec,
    problem: ({ spec }) => specProblems("BGPFilter", spec)[0],
  });
}
