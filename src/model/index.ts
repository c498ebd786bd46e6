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
export { canonicalTime, parseDuration, printDuration } from "./go-time.ts";
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
export {
  escapeName,
  type Key,
  keyToPath,
  type PolicyKey,
  type PolicyKind,
  policyKinds,
  type ResourceKey,
  unescapeName,
} from "./keys.ts";
export { type Kind, type KindInfo, type KubernetesSource, kindInfo, kindNames, kinds } from "./kinds.ts";
export * from "./kubernetes/index.ts";
export { type LegacyUpdate, legacyForm } from "./legacy-policy.ts";
export { type ObjectMeta, objectMeta, writeObjectMeta } from "./object-meta.ts";
export { parseJson } from "./parse-json.ts";
export { pathToKey } from "./path-to-key.ts";
export {
  booleanAt,
  cleanJson,
  FieldError,
  type IntegerRange,
  int32,
  int64,
  integerAt,
  isRecord,
  type JsonRecord,
  join,
  listAt,
  maxJsonDepth,
  member,
  numberAt,
  recordAt,
  recordOf,
  type StringMap,
  stringAt,
  stringListAt,
  stringMapAt,
  uint16,
  uint32,
} from "./read-json.ts";
export {
  type ResourceKind,
  type ResourceKindInfo,
  resourceKindInfo,
  resourceKindOfPlural,
  resourceKinds,
} from "./resource-kinds.ts";
export {
  asNumber,
  canonicalAsNumber,
  canonicalPort,
  canonicalUint8OrText,
  dscp,
  duration,
  type NumberOrText,
  port,
  protocol,
  time,
} from "./scalars.ts";
export {
  type CrdSchema,
  flag,
  float,
  integer,
  kept,
  list,
  type Member,
  map,
  nullableList,
  optional,
  raw,
  readSchema,
  required,
  type Schema,
  type SchemaType,
  scalar,
  struct,
  text,
  zeroable,
} from "./schema.ts";
export {
  evaluateSelector,
  type Labels,
  type ParsedSelector,
  parseSelector,
  prefixSelector,
  printSelector,
  type Selector,
  selectorProblem,
} from "./selector.ts";
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
export { type V1Policy, type V1ProfileRules, type V1Rule, v1Policy, v1ProfileRules, v1Rule } from "./v1-policy.ts";
export * from "./v3/index.ts";
