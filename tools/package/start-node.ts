// What the package has in the place of src/programs/node/starting/start.ts: the same, out of one file, with the code that Node made of it the last time
// (docs/decisions/0023-lean-start.md). Pods wait for it.
import type {
  startAgent as StartAgent,
  startNode as StartNode,
  startUp as StartUp,
} from "../../src/programs/node/starting/start.ts";
import { runFrugally, runKept } from "./run-kept.ts";

declare const NODE_DIGEST: string; // of node.cjs, set by tools/build.ts

type Program = { startNode: typeof StartNode; startAgent: typeof StartAgent; startUp: typeof StartUp };

/** By then an agent has done whatever it does at every start; later V8 lets go of the code that it used only then. */
const settledMs = 20_000;

/** Each command has its own file, because each uses other functions. */
function program(command: string): Program {
  const url = new URL("./node.cjs", import.meta.url);
  const { exports, keep } = runKept(url, { name: `node-${command}`, digest: NODE_DIGEST });
  process.once("exit", keep);
  setTimeout(keep, settledMs).unref();
  if (command !== "startup") runFrugally();
  return exports as Program; // built from that file
}

export const startNode: typeof StartNode = async (words) => {
  const [command = "", ...rest] = words;
  return rest.length === 0 && ["run", "felix", "bgp", "startup"].includes(command)
    ? await program(command).startNode(words)
    : false;
};

export const startAgent: typeof StartAgent = async (name, flags) => await program(name).startAgent(name, flags);

export const startUp: typeof StartUp = async (isComplete) => await program("startup").startUp(isComplete);
