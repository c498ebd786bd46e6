// The way through a SOCKS proxy (RFC 1928 and 1929, and version 4a), which Node has not: a few bytes each way, and then
// the connection is as if it were direct. The proxy looks names up, as it does for Go's programs.
import { connect, isIP, isIPv4, type Socket } from "node:net";
import { KubeError } from "../kube-error.ts";

export type Target = { readonly host: string; readonly port: number };

const patienceMs = 30_000;

/** A connected socket whose first byte is the target's. */
export async function connectThroughSocks(proxy: URL, target: Target): Promise<Socket> {
  const host = proxy.hostname.replace(/^\[(.*)\]$/, "$1");
  const socket = connect({ host, port: Number(proxy.port || 1080) });
  socket.setTimeout(patienceMs, () => socket.destroy(new Error(`the proxy ${proxy.host} does not answer`)));
  try {
    if (/^socks4a?:$/.test(proxy.protocol)) await introduceV4(socket, proxy, target);
    else await introduceV5(socket, proxy, target);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  socket.setTimeout(0);
  socket.removeAllListeners("timeout");
  return socket;
}

async function introduceV5(socket: Socket, proxy: URL, target: Target): Promise<void> {
  const name = decodeURIComponent(proxy.username);
  const noPassword = 0;
  const withPassword = 2;
  const offered = name === "" ? [noPassword] : [noPassword, withPassword];
  socket.write(Buffer.of(5, offered.length, ...offered));
  const [version, method] = await take(socket, 2);
  if (version !== 5) throw refused(proxy, "it does not speak SOCKS 5");
  if (method === withPassword && name !== "") {
    const parts = [name, decodeURIComponent(proxy.password)].map((text) => Buffer.from(text));
    if (parts.some(({ length }) => length > 255)) throw refused(proxy, "the name or password is too long for it");
    socket.write(Buffer.concat([Buffer.of(1), ...parts.flatMap((part) => [Buffer.of(part.length), part])]));
    const [, status] = await take(socket, 2);
    if (status !== 0) throw refused(proxy, "it refuses the name and password");
  } else if (method !== noPassword) {
    throw refused(proxy, "it wants credentials that proxy-url does not have");
  }
  socket.write(Buffer.concat([Buffer.of(5, 1, 0), addressV5(target.host), portBytes(target.port)]));
  const [, reply = 1, , kind] = await take(socket, 4);
  if (reply !== 0) throw refused(proxy, `${target.host}:${target.port}: ${replies[reply] ?? `error ${reply}`}`);
  // The address that the proxy has taken for us; nobody needs it.
  const [length = 0] = kind === 3 ? await take(socket, 1) : [kind === 4 ? 16 : 4];
  await take(socket, length + 2);
}

const replies: { readonly [code: number]: string } = {
  2: "its rules do not allow that",
  3: "network unreachable",
  4: "host unreachable",
  5: "connection refused",
  6: "it took too long",
};

function addressV5(host: string): Buffer {
  if (isIP(host) === 4) return Buffer.of(1, ...host.split(".").map(Number));
  if (isIP(host) === 6) return Buffer.concat([Buffer.of(4), ipv6Bytes(host)]);
  const name = Buffer.from(host);
  if (name.length > 255) throw new KubeError("invalid", `the server's name has more than 255 bytes`);
  return Buffer.concat([Buffer.of(3, name.length), name]);
}

function ipv6Bytes(host: string): Buffer {
  // URL writes every form of an address in the same way: groups of hexadecimal digits, at most one "::".
  const [head = "", tail] = new URL(`http://[${host}]`).hostname.slice(1, -1).split("::");
  const groups = (text = "") => (text === "" ? [] : text.split(":"));
  const missing = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array.from({ length: missing }, () => "0"), ...groups(tail)];
  return Buffer.concat(all.map((group) => portBytes(Number.parseInt(group, 16))));
}

async function introduceV4(socket: Socket, proxy: URL, { host, port }: Target): Promise<void> {
  const user = Buffer.from(`${decodeURIComponent(proxy.username)}\u0000`);
  const isAddress = isIPv4(host);
  const address = isAddress ? Buffer.of(...host.split(".").map(Number)) : Buffer.of(0, 0, 0, 1);
  const name = isAddress ? Buffer.alloc(0) : Buffer.from(`${host}\u0000`);
  socket.write(Buffer.concat([Buffer.of(4, 1), portBytes(port), address, user, name]));
  const [, reply] = await take(socket, 8);
  if (reply !== 90) throw refused(proxy, `${host}:${port}: error ${reply}`);
}

function portBytes(port: number): Buffer {
  return Buffer.of(port >> 8, port & 255);
}

function refused(proxy: URL, why: string): KubeError {
  return new KubeError("unavailable", `the proxy ${proxy.protocol}//${proxy.host} does not let us through: ${why}`);
}

/** Exactly so many bytes; what follows stays in the socket. */
function take(socket: Socket, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const done = (settle: () => void) => {
      socket.off("readable", look).off("error", fail).off("end", end);
      settle();
    };
    const look = () => {
      const bytes: Buffer | null = socket.read(length);
      if (bytes !== null) done(() => resolve(bytes));
    };
    const fail = (error: Error) => done(() => reject(error));
    const end = () => done(() => reject(new Error("the proxy hung up")));
    socket.on("readable", look).on("error", fail).on("end", end);
    look();
  });
}
