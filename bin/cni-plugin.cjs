#!/usr/bin/env node
// The CNI plugins as a runtime starts them, for each pod: links named calico and calico-ipam lead here. It asks the agent of this node over a
// socket (src/node/cni/resident), and prints what that answers. Where there is no agent, or the agent says that the call is not its own, this
// program does the work itself, with the same code, which is loaded only then.
//
// Plain CommonJS, and nothing but files and sockets, because every start pays for what is loaded: bench/cni has the figures.
"use strict";

const fs = require("node:fs");

const protocol = 1;
const usualSocket = "/var/run/calico/cattail/cni.sock";
/** A little less than a runtime's patience: an error that says why is better than being killed. */
const limitMs = 118_000;
const commands = ["ADD", "DEL", "CHECK", "STATUS", "GC"];
const largestCopy = 1 << 20;

/**
 * Resolves with the agent's answer, or with undefined where this program has to do the work. A connection that breaks is such a case: the agent is
 * gone, and nobody works for us any more; ADD and DEL find what it has left, and may be repeated. What is refused as a whole is an error.
 */
function askAgent(plugin, stdin, files) {
  if (!commands.includes(process.env.CNI_COMMAND)) return Promise.resolve(undefined);
  const { CATTAIL_CNI_SOCKET: given = usualSocket } = process.env;
  const path = safeSocket(given);
  if (path === undefined) return Promise.resolve(undefined);
  const request = {
    protocol,
    plugin,
    variables: process.env,
    stdin,
    seen: { node: idOf("/proc/self/ns/net"), pod: idOf(process.env.CNI_NETNS) },
    ipam: ipamPlugin(plugin, stdin, files),
  };
  const text = `${JSON.stringify({ version: 1, call: "cni", body: request })}\n`;
  return new Promise((resolve) => {
    const conversation = { end: () => undefined };
    const timer = setTimeout(() => {
      conversation.end();
      resolve(
        failed(`no answer came from the agent at ${path} within ${limitMs / 1000} s`, "see the log of cattail node"),
      );
    }, limitMs);
    const done = (line) => {
      clearTimeout(timer);
      conversation.end();
      resolve(line === undefined ? undefined : read(line));
    };
    conversation.end = converse(path, text, done);
  });
}

/** Says one line, and hears one: done(line), or done(undefined) where the connection breaks before. Returns what ends it. */
function converse(path, text, done) {
  try {
    return converseThinly(path, text, done);
  } catch {
    return converseByNet(path, text, done); // another Node, with other insides
  }
}

/**
 * By the handle that node:net has inside, without its streams: of a start's 38 ms of processor time they are 8, and 3 MB of its 44. This door of Node is
 * old and has no promise to stay open; whatever is missing throws before anything is said.
 */
function converseThinly(path, text, done) {
  const { Pipe, PipeConnectWrap, constants } = process.binding("pipe_wrap");
  const { WriteWrap, streamBaseState, kReadBytesOrError, kArrayBufferOffset } = process.binding("stream_wrap");
  if (streamBaseState === undefined || kReadBytesOrError === undefined || kArrayBufferOffset === undefined)
    throw new Error("not this Node");
  const pipe = new Pipe(constants.SOCKET);
  const chunks = [];
  let isOver = false;
  const end = () => {
    if (!isOver) pipe.close();
    isOver = true;
  };
  const broken = () => {
    if (isOver) return;
    end();
    done(undefined);
  };
  pipe.onread = (bytes) => {
    const length = streamBaseState[kReadBytesOrError];
    if (isOver || length === 0) return;
    if (length < 0) return broken();
    const chunk = Buffer.from(bytes, streamBaseState[kArrayBufferOffset], length);
    chunks.push(chunk);
    if (chunk[length - 1] !== newLine) return;
    end();
    done(Buffer.concat(chunks).toString("utf8"));
  };
  const connecting = new PipeConnectWrap();
  connecting.oncomplete = (status) => {
    if (isOver) return;
    const writing = new WriteWrap();
    writing.oncomplete = (failure) => void (failure < 0 && broken());
    if (status < 0 || pipe.readStart() < 0 || pipe.writeUtf8String(writing, text) < 0) broken();
  };
  if (pipe.connect(connecting, path) < 0) queueMicrotask(broken);
  return end;
}

const newLine = 10;

function converseByNet(path, text, done) {
  const socket = require("node:net").connect(path);
  let line = "";
  socket.setEncoding("utf8");
  socket.on("error", () => done(undefined));
  socket.on("close", () => done(undefined));
  socket.on("data", (chunk) => {
    line += chunk;
    if (chunk.endsWith("\n")) done(line);
  });
  socket.write(text);
  return () => socket.destroy();
}

/** Undefined: the work is ours. An agent of another release may say what we do not know: then it has done nothing. */
function read(line) {
  let answer;
  try {
    answer = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { is, body, error } = answer;
  if (is === "failed" && error && ["CALL_VERSION", "CALL_BROKEN", "CALL_TOO_LARGE"].includes(error.code))
    return undefined;
  if (is === "failed" && error) return failed(`the agent failed: ${error.problem}`, error.next);
  if (is !== "done" || !body || body.is !== "answered" || typeof body.stdout !== "string") return undefined;
  return body;
}

/** In the form of every error of a plugin. */
function failed(msg, details) {
  return { exitCode: 1, stdout: `${JSON.stringify({ code: 999, msg, details }, null, 4)}\n`, stderr: "" };
}

/**
 * The socket's path without links; undefined: there is none, or somebody else's could stand in for the agent's, because a folder above it is his, or
 * takes names from everybody. src/base/linux/files/who-may-replace.ts asks the same.
 */
function safeSocket(path) {
  if (path === "") return undefined;
  try {
    const { basename, dirname, resolve } = require("node:path");
    const folder = dirname(resolve(path));
    const real = fs.realpathSync(folder);
    const trusted = [0, process.getuid(), fs.statSync("/").uid]; // in a user namespace root has another number
    if (![...upwards(folder), ...upwards(real)].every((each) => isClosed(fs.statSync(each), trusted))) return undefined;
    const found = `${real}/${basename(path)}`;
    const stats = fs.lstatSync(found);
    return stats.isSocket() && [0, process.getuid()].includes(stats.uid) ? found : undefined;
  } catch {
    return undefined; // nothing is there
  }
}

function upwards(folder) {
  const at = folder.lastIndexOf("/");
  return at < 0 || folder === "/" ? ["/"] : [folder, ...upwards(folder.slice(0, at) || "/")];
}

/** In a sticky folder, as /tmp is, each has only his own names. */
function isClosed({ uid, gid, mode }, trusted) {
  if (!trusted.includes(uid)) return false;
  if ((mode & 0o1000) !== 0) return true;
  return (mode & 0o002) === 0 && ((mode & 0o020) === 0 || gid === 0 || gid === process.getgid());
}

function idOf(path) {
  try {
    const { dev, ino } = fs.statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined; // there is none, or none that we can see
  }
}

/** Which file CNI_PATH has for the configuration's IPAM, and whether it is this program. */
function ipamPlugin(plugin, stdin, files) {
  if (plugin === "calico-ipam") return undefined;
  const type = ipamType(stdin);
  if (typeof type !== "string" || type === "" || type.includes("/")) return undefined;
  for (const folder of (process.env.CNI_PATH || "").split(":")) {
    const found = `${folder.replace(/\/$/, "")}/${type}`;
    const id = folder === "" ? undefined : idOf(found);
    if (id !== undefined) return { file: found, id, isOwn: type === "calico-ipam" && isSameProgram(files, found, id) };
  }
  return undefined;
}

function ipamType(stdin) {
  try {
    return JSON.parse(stdin).ipam.type;
  } catch {
    return undefined;
  }
}

/** Through links of both sorts; a small file may also be copied. src/programs/cni/run-program.ts asks the same. */
function isSameProgram(files, other, otherId) {
  if (files.some((own) => idOf(own) === otherId)) return true;
  const { size } = fs.statSync(other);
  return files.some((own) => {
    const stats = fs.statSync(own, { throwIfNoEntry: false });
    if (stats === undefined || size > largestCopy || size !== stats.size) return false;
    return fs.readFileSync(own).equals(fs.readFileSync(other));
  });
}

/** A pipe may be empty when we look: whoever writes into it is not always faster than Node starts. */
function readStdin() {
  const chunks = [];
  const chunk = Buffer.allocUnsafe(65536);
  for (;;) {
    try {
      const read = fs.readSync(0, chunk, 0, chunk.length, null);
      if (read === 0) return Buffer.concat(chunks).toString("utf8");
      chunks.push(Buffer.from(chunk.subarray(0, read)));
    } catch (error) {
      if (error.code === "EOF") return Buffer.concat(chunks).toString("utf8");
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

/** All of it, whatever a pipe takes at a time. */
function writeAll(fd, text) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += fs.writeSync(fd, bytes, at);
    } catch (error) {
      if (error.code === "EPIPE") return;
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

/** Ends the process if the agent has answered. Else what was read, which can be read only once. `files`: those that are this program. */
async function startPlugin(plugin, files) {
  if (!commands.includes(process.env.CNI_COMMAND)) return {};
  const stdin = readStdin();
  const answer = await askAgent(plugin, stdin, files);
  if (answer === undefined) return { stdin, files };
  writeAll(2, answer.stderr || "");
  writeAll(1, answer.stdout);
  process.reallyExit(answer.exitCode); // nothing is left to be closed
}

module.exports = { startPlugin };

/** A file that `cattail cni install` wrote: its own name says which plugin is asked for. */
const launcher = globalThis.cattailCniLauncher;
if (require.main === module || launcher !== undefined) {
  const { basename, join } = require("node:path");
  const plugin = basename(process.argv[1]) === "calico-ipam" ? "calico-ipam" : "calico";
  const words = process.argv.slice(2);
  const cattail = join(__dirname, "cattail");
  const own = launcher === undefined ? [__filename, cattail] : [launcher, __filename, cattail];
  const started = words.length === 0 ? startPlugin(plugin, own) : Promise.resolve({ files: own });
  started
    .then((given) => {
      globalThis.cattailCniStarted = given; // src/programs/cni/run-program.ts goes on from there
      process.argv.splice(1, process.argv.length, cattail, "cni", plugin === "calico" ? "plugin" : "ipam", ...words);
      return import(cattail);
    })
    .catch((error) => {
      const details = `${__filename} must be a link to a file of a whole installation, or an agent must run: ${error.message}`;
      writeAll(1, failed("no agent answers, and the program itself cannot be started", details).stdout);
      process.exitCode = 1;
    });
}
