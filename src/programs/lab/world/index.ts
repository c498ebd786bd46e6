// The world of a lab: machines as namespaces, pods by the CNI plugin, pings between all of them. world.ts says how a test uses it.
export {
  type End,
  isWhole,
  type MatrixOptions,
  type Pair,
  type PairKind,
  type PingedPair,
  type PodEnd,
  pairKinds,
  pairsOf,
  pingPairs,
} from "./matrix.ts";
export { ended, Place, type RunOptions, type StartOptions } from "./place.ts";
export {
  installConfiguration,
  installedConfiguration,
  type LabPod,
  Pods,
  type PodsOptions,
  type PodWish,
} from "./pods.ts";
export {
  bridgeOf,
  buildWorld,
  LabNode,
  network6,
  nodeName,
  switchAddress,
  switchAddress6,
  switchPort,
  World,
  type WorldOptions,
} from "./world.ts";
