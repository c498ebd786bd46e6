// How servers tell each other which nodes they have. A server that asks connects to the port that clients use, by the name
// below (SNI), and shows its own certificate: the answering server takes it for a neighbour when it bears the same name as
// its own. The answer is one JSON text, then the end. Nothing is read from whoever asks.
//
//   asking ──TLS, SNI = neighbourName, our server pair──▶ answering
//          ◀──{"cattail":1,"nodes":[["node-1","up to date"],...]}── end
//
// The original knows nothing of it: to it the neighbour is a client with the wrong name, which it refuses.
// docs/decisions/0020-servers-tell-each-other-their-nodes.md has the argument.
import { isRecord, messageOf, parseJson } from "../../../base/lib/index.ts";
import type { NodeState } from "../../dashboard/index.ts";

/** No name that anybody's certificate has: it is a question, not a host. */
export const neighbourName = "nodes.cattail.invalid";

/** Five thousand nodes with long names are a hundredth of it. */
export const mostAnswerBytes = 16 << 20;
const mostNodes = 100_000;

export type OwnNode = readonly [node: string, state: NodeState];

const states: readonly NodeState[] = ["behind", "starting", "up to date"];

export function writeAnswer(nodes: readonly OwnNode[]): string {
  return JSON.stringify({ cattail: 1, nodes });
}

/** Throws an Error in plain words for anything else than an answer. */
export function readAnswer(text: string): OwnNode[] {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new Error(`its answer is not JSON (${messageOf(error)})`);
  }
  if (!isRecord(value) || value.cattail !== 1 || !Array.isArray(value.nodes)) {
    throw new Error("its answer is of another form: the server is of another version");
  }
  if (value.nodes.length > mostNodes) throw new Error(`its answer has more than ${mostNodes} nodes`);
  return value.nodes.map((entry: unknown) => {
    const [node, state] = Array.isArray(entry) ? entry : [];
    const known = states.find((one) => one === state);
    if (typeof node !== "string" || node.length > 256 || known === undefined) {
      throw new Error("its answer has an entry that is no node");
    }
    return [node, known];
  });
}
