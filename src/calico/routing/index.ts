// What a node's routes are made of, read from the felix data set: where nodes are and where their VXLAN tunnels end, how pools are reached,
// whose blocks are. Pure, and one thought for everybody who asks: the routes of a node, its firewall, the doctor.
export { type BlockFacts, blockOfPath, readBlock } from "./blocks.ts";
export {
  type FamilyFacts,
  type NodeFacts,
  nodeOfPath,
  readNode,
  sameNode,
  sameSubnet,
  tunnelEndOf,
  vtepMac,
} from "./nodes.ts";
export { isEncapsulated, type PoolFacts, type PoolWay, poolOf, poolOfPath, readPool } from "./pools.ts";
export { bridgeProtocol, highestBirdMetric, isOfBird, routeProtocol } from "./protocols.ts";
