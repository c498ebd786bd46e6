// CalicoNodeStatus, passed through with its status.
import { type CalicoNodeStatusSpec, calicoNodeStatusSpec, calicoNodeStatusStatus } from "../../kinds/index.ts";
import { readSchema } from "../../model/index.ts";
import { type Check, firstProblem } from "../object/checks.ts";
import { isDnsName } from "../object/name-rules.ts";
import type { Processor } from "../processor/processor.ts";
import { createPassThroughProcessor } from "../processor/whole-object.ts";

export function createCalicoNodeStatusProcessor(): Processor {
  return createPassThroughProcessor({
    kind: "CalicoNodeStatus",
    schema: calicoNodeStatusSpec,
    problem: ({ spec }) => firstProblem(checks(spec)),
    status: (status) => calicoNodeStatusStatus.go.write(readSchema(calicoNodeStatusStatus, status ?? {}, "status")),
  });
}

function* checks(spec: CalicoNodeStatusSpec): Generator<Check> {
  yield ["spec.node", isDnsName(spec.node ?? ""), "must be a DNS name"];
  yield ["spec.classes", spec.classes !== undefined, "must be given"];
  const classes = spec.classes ?? [];
  yield ["spec.classes", new Set(classes).size === classes.length, "must not have one twice"];
  const { updatePeriodSeconds } = spec;
  const isPeriod = updatePeriodSeconds !== undefined && updatePeriodSeconds <= 86400;
  yield ["spec.updatePeriodSeconds", isPeriod, "must be given, up to 86400"];
}
