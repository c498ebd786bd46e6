// Runs in a node's namespace: keeps a BIRD as the agent does, until SIGTERM. Arguments: configuration, socket.
import { systemClock } from "../../../src/base/lib/index.ts";
import { findProgram, superviseBird } from "../../../src/node/bird/daemon/supervisor.ts";

const [configuration = "", socket = ""] = process.argv.slice(2);
const ends = new AbortController();
process.once("SIGTERM", () => ends.abort());
const say = (message: string, fields: object = {}) =>
  void process.stdout.write(`${JSON.stringify({ message, ...fields })}\n`);
const log = { debug: say, info: say, warn: say, error: say };
const program = findProgram("bird", process.env.PATH ?? "") ?? "/usr/sbin/bird";
await superviseBird({ program, configuration, socket, generation: 2, clock: systemClock, log }, ends.signal);
