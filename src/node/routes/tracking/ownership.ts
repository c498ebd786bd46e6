// Whose a route is. Ours may be changed and removed; everybody else's is left alone, also where it stands in our way.
import { mainTable, type Route } from "../../../base/linux/kernel.ts";
import { isOfBird } from "../../../calico/routing/index.ts";
import type { RouteSettings } from "../settings.ts";
import { numberOf } from "./kernel-route.ts";

const leftoverProtocol = 80;
const kernelsOwn = new Set([1, 2, 9]); // redirect, kernel, ra
const bootProtocol = 3;

export type LinkRole = "workload" | "tunnel" | "ipip" | "other";

export function isOurs(route: Route, role: LinkRole, settings: RouteSettings): boolean {
  const protocol = numberOf(route.protocol);
  if (route.table !== mainTable || kernelsOwn.has(protocol)) return false;
  if (protocol === leftoverProtocol || protocol === settings.protocol) return true;
  if (role === "tunnel") return true;
  // BIRD's from before the agent wrote them: Calico's own BIRD could.
  if (role === "ipip") return isOfBird(protocol) && settings.ways.ipipBy === "us";
  if (role !== "workload") return false;
  // A workload that speaks BGP with the node has its routes from BIRD.
  if (isOfBird(protocol)) return false;
  return settings.removesExternalRoutes || protocol === bootProtocol || protocol === settings.deviceProtocol;
}

/** BIRD's route may have the place of ours, where the work has just passed from one to the other. */
export function isBirds(route: Route): boolean {
  return route.table === mainTable && isOfBird(route.protocol);
}
