// Address management for a program that lives on a node (open-resident.ts): a cache that is fed by watches, and shared writes.
export { openResident, type ResidentIpam, type ResidentOptions } from "./open-resident.ts";
