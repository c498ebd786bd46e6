// IPReservation: addresses that are not handed out.
import { lazy, list, type SchemaType, struct, text } from "../../model/index.ts";
import { fields, filled } from "../checks/check.ts";
import { cidrs } from "../checks/tags.ts";
import { listCell, nameCell } from "../columns.ts";
import { customResource, specChecks } from "../kind.ts";

const ipReservationSpec = lazy(() =>
  struct({
    reservedCIDRs: list(text({ format: "cidr" }), { "x-kubernetes-list-type": "set" }),
  }),
);

export const ipReservation = customResource("IPReservation", {
  names: ["ipreservation", "ipreservations", "reservation", "reservations"],
  columns: { ps: [nameCell], wide: [nameCell, listCell("CIDRS", "spec.reservedCIDRs", 80)] },
  rights: { node: ["list", "watch"], cni: ["list"] },
  schema: { spec: ipReservationSpec },
  checks: specChecks(() => fields<SchemaType<typeof ipReservationSpec>>({ reservedCIDRs: filled(cidrs) })),
});
