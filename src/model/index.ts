// Calico's keys, values and resource kinds; nothing in this folder runs by itself.
export {
  always,
  compareUtf8,
  type GoField,
  type GoType,
  goBool,
  goList,
  goMap,
  goNumber,
  goPointer,
  goRaw,
  goString,
  goStruct,
  omitEmpty,
  omitZero,
  writeGoNumber,
  writeGoString,
} from "./go-json.ts";
export {
  type Cidr,
  canonicalCidr,
  canonicalIp,
  canonicalMac,
  canonicalNetwork,
  cidrToText,
  type Ip,
  ipToText,
  isMasked,
  mask,
  type Network,
  parseCidr,
  parseCidrOrIp,
  parseIp,
} from "./ip.ts";
export { type Kind, type KindInfo, type KubernetesSource, kindInfo, kindNames, kinds } from "./kinds.ts";
export { parseJson } from "./parse-json.ts";
export {
  type KvUpdate,
  type SyncerBatch,
  type SyncerType,
  type SyncStatus,
  syncerTypes,
  syncStatus,
  type UpdateType,
  updateType,
} from "./update.ts";
