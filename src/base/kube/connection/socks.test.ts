// Both sides of a SOCKS conversation, byte by byte, with a scripted proxy on loopback.
import { deepEqual, match, rejects } from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { connectThroughSocks } from "./socks.ts";

type Step = { readonly expects: number; readonly answers: readonly number[] };

/** A proxy that takes so many bytes, answers, and so on; then it says hello in the target's name. */
async function proxyOf(steps: readonly Step[]) {
  const heard: Buffer[] = [];
  const sockets: Socket[] = [];
  const server = createServer(async (socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
    for (const { expects, answers } of steps) {
      let bytes: Buffer | null = socket.read(expects);
      while (bytes === null) {
        await once(socket, "readable");
        bytes = socket.read(expects);
      }
      heard.push(bytes);
      // One at a time: a reader must not count on getting an answer whole.
      for (const byte of answers) socket.write(Buffer.of(byte));
    }
    socket.write("hello");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    heard,
    at: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const granted = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0];
const greeting: Step = { expects: 3, answers: [5, 0] };
const ways: { name: string; scheme: string; host: string; login?: string; steps: Step[]; heard: number[][] }[] = [
  {
    name: "a name, which the proxy looks up",
    scheme: "socks5",
    host: "api.test",
    steps: [greeting, { expects: 15, answers: granted }],
    heard: [
      [5, 1, 0],
      [5, 1, 0, 3, 8, ...Buffer.from("api.test"), 0x19, 0x2b],
    ],
  },
  {
    name: "an IPv4 address, and an answer with a name",
    scheme: "socks5h",
    host: "10.1.2.3",
    steps: [greeting, { expects: 10, answers: [5, 0, 0, 3, 2, 97, 98, 0, 0] }],
    heard: [
      [5, 1, 0],
      [5, 1, 0, 1, 10, 1, 2, 3, 0x19, 0x2b],
    ],
  },
  {
    name: "an IPv6 address, and an answer with one",
    scheme: "socks",
    host: "fd00::1:2",
    steps: [greeting, { expects: 22, answers: [5, 0, 0, 4, ...Array(18).fill(0)] }],
    heard: [
      [5, 1, 0],
      [5, 1, 0, 4, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0x19, 0x2b],
    ],
  },
  {
    name: "a name and a password, where the proxy wants them",
    scheme: "socks5",
    login: "me:p%3As@",
    host: "10.1.2.3",
    steps: [
      { expects: 4, answers: [5, 2] },
      { expects: 8, answers: [1, 0] },
      { expects: 10, answers: granted },
    ],
    heard: [
      [5, 2, 0, 2],
      [1, 2, ...Buffer.from("me"), 3, ...Buffer.from("p:s")],
      [5, 1, 0, 1, 10, 1, 2, 3, 0x19, 0x2b],
    ],
  },
  {
    name: "version 4 with an address",
    scheme: "socks4",
    login: "me@",
    host: "10.1.2.3",
    steps: [{ expects: 11, answers: [0, 90, 0, 0, 0, 0, 0, 0] }],
    heard: [[4, 1, 0x19, 0x2b, 10, 1, 2, 3, ...Buffer.from("me"), 0]],
  },
  {
    name: "version 4a with a name",
    scheme: "socks4a",
    host: "api.test",
    steps: [{ expects: 18, answers: [0, 90, 0, 0, 0, 0, 0, 0] }],
    heard: [[4, 1, 0x19, 0x2b, 0, 0, 0, 1, 0, ...Buffer.from("api.test"), 0]],
  },
];
for (const { name, scheme, login = "", host, steps, heard } of ways) {
  test(`through a SOCKS proxy: ${name}`, async () => {
    await using proxy = await proxyOf(steps);
    const socket = await connectThroughSocks(new URL(`${scheme}://${login}${proxy.at}`), { host, port: 6443 });
    deepEqual(
      proxy.heard.map((bytes) => [...bytes]),
      heard,
    );
    socket.setEncoding("utf8").resume();
    let said = "";
    socket.on("data", (text) => (said += text));
    while (said !== "hello") await once(socket, "data");
    socket.destroy();
  });
}

const refusals: { name: string; login?: string; scheme?: string; steps: Step[]; says: RegExp }[] = [
  { name: "no SOCKS", steps: [{ expects: 3, answers: [72, 84] }], says: /it does not speak SOCKS 5/ },
  { name: "a password that we have not", steps: [{ expects: 3, answers: [5, 255] }], says: /wants credentials/ },
  {
    name: "a password that is wrong",
    login: "me:hunter2@",
    steps: [
      { expects: 4, answers: [5, 2] },
      { expects: 12, answers: [1, 1] },
    ],
    says: /it refuses the name and password/,
  },
  {
    name: "a host that is not reached",
    steps: [greeting, { expects: 15, answers: [5, 4, 0, 1] }],
    says: /socks5:\/\/127\.0\.0\.1:\d+ does not let us through: api\.test:6443: host unreachable/,
  },
  {
    name: "version 4",
    scheme: "socks4a",
    steps: [{ expects: 18, answers: [0, 91, 0, 0, 0, 0, 0, 0] }],
    says: /error 91/,
  },
];
for (const { name, login = "", scheme = "socks5", steps, says } of refusals) {
  test(`refused by a SOCKS proxy: ${name}`, async () => {
    await using proxy = await proxyOf(steps);
    const going = connectThroughSocks(new URL(`${scheme}://${login}${proxy.at}`), { host: "api.test", port: 6443 });
    await rejects(going, (error: Error & { code?: string }) => {
      match(error.message, says);
      return error.code === "unavailable" && !error.message.includes("hunter2");
    });
  });
}

test("a proxy that hangs up or is not there is an error", async () => {
  const server = createServer((socket) => socket.resume().end());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const going = () => connectThroughSocks(new URL(`socks5://127.0.0.1:${port}`), { host: "a", port: 1 });
  await rejects(going(), /hung up|ECONNRESET|EPIPE/);
  await new Promise((resolve) => server.close(resolve));
  await rejects(going(), /ECONNREFUSED/);
});
