// The process that snapshot-client.ts measures: connects, reads until in-sync, prints what it took.
import { connect } from "node:net";
import { ClientMachine } from "../../src/typha/wire/index.ts";
import { clientHello } from "../../test/kit/client-hello.ts";

const cpuBefore = process.cpuUsage();
const startMs = performance.now();
const machine = new ClientMachine({ hello: clientHello }, startMs);
const socket = connect(Number(process.argv[2]), "127.0.0.1");
let updates = 0;
socket.on("data", (bytes: Buffer) => {
  for (const event of machine.receive(bytes, performance.now())) {
    if (event.is === "send") socket.write(event.bytes);
    if (event.is === "updates") updates += event.updates.length;
    if (event.is === "close") throw new Error(event.why.problem);
    if (event.is === "status") {
      const { user, system } = process.cpuUsage(cpuBefore);
      console.log(JSON.stringify({ cpuMs: (user + system) / 1000, wallMs: performance.now() - startMs, updates }));
      socket.destroy();
    }
  }
});
socket.write(machine.opening());
