// The manners of the command line, on the real process: every command explains itself with an example, a slip of the
// finger gets a hint and exit code 1, completion scripts parse, and nothing but plain text goes into a pipe.
import { equal, match, ok } from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Cattail, cattail } from "../kit/cattail-process.ts";
import { freePort } from "../kit/free-port.ts";

const folder = mkdtempSync(join(tmpdir(), "cattail-cli-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const commands = [...(await cattail(["completion", "bash"])).stdout.matchAll(/^ {4}"([^"]*)"\) echo "([^"]*)";;$/gm)]
  .map(([, path = "", words = ""]) => ({ path, words: words.split(" ") }))
  .filter(({ path }) => path !== "");

test("there are commands, and completion knows them all", async () => {
  const { stdout } = await cattail(["--help"]);
  const listed = [...stdout.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map(([, name = ""]) => name);
  ok(listed.length >= 8, stdout);
  for (const name of listed) ok(commands.some(({ path }) => path === name) || name === "help", name);
});

for (const { path, words } of commands) {
  test(`cattail ${path} --help shows its options and an example that starts with its name`, async () => {
    const { code, stdout } = await cattail([...path.split(" "), "--help"]);
    equal(code, 0);
    match(stdout, new RegExp(`^Usage: cattail ${path} `));
    match(stdout, new RegExp(`^Examples?:\\n(?:.*\\n)*?  .*cattail ${path}`, "m"));
    for (const word of words) ok(stdout.includes(word), word);
  });
}

for (const words of [["--version"], ["typha", "--version"]]) {
  test(`cattail ${words.join(" ")} is cattail version`, async () => {
    const { code, stdout } = await cattail(words);
    equal(code, 0);
    equal(stdout, (await cattail(["version"])).stdout);
  });
}

const slips: { given: string[]; env?: { [name: string]: string }; hint: RegExp }[] = [
  { given: ["tyhpa"], hint: /unknown command 'tyhpa'[\s\S]*Did you mean typha\?[\s\S]*--help/ },
  { given: ["help", "tyhpa"], hint: /unknown command 'tyhpa'[\s\S]*Did you mean typha\?/ },
  { given: ["demo", "--node", "5"], hint: /unknown option '--node'[\s\S]*Did you mean[\s\S]*--nodes[\s\S]*--help/ },
  { given: ["certs", "inti"], hint: /unknown command 'inti'[\s\S]*Did you mean init\?[\s\S]*--help/ },
  { given: ["certs", "renew"], hint: /required option '--dir <directory>' not specified[\s\S]*--help/ },
  { given: ["demo", "--nodes", "many"], hint: /--nodes[\s\S]*whole number from 1 to 2000[\s\S]*--help/ },
  { given: ["completion", "tcsh"], hint: /Allowed choices are bash, zsh, fish/ },
  { given: ["version", "-o", "xml"], hint: /Allowed choices are text, json/ },
  { given: ["certs", "inspect", "/no/such/file"], hint: /\/no\/such\/file/ },
  {
    given: ["typha"],
    env: { TYPHA_LOGFILEPATH: "/proc/nope/x", TYPHA_DATASTORETYPE: "memory" },
    hint: /the log file \/proc\/nope\/x cannot be opened \(ENOENT\)/,
  },
  { given: ["manifests", "all"], hint: /needs an image[\s\S]*docker build[\s\S]*--image/ },
  { given: ["manifests", "typha", "--image", "bad image: {}"], hint: /It has to be an image/ },
  {
    given: ["manifests", "typha", "--image", "a/b", "--host-certs", "certs"],
    hint: /path on the hosts that begins with/,
  },
  { given: ["manifests", "crds", "--only", "IPPol"], hint: /no custom resource of Calico called IPPol[\s\S]*IPPool/ },
  { given: ["certs", "inspect", "/dev/zero"], hint: /\/dev\/zero cannot be read \(it is a device, not a file\)/ },
  {
    given: ["typha", "-c", "/no/such.cfg"],
    hint: /configuration file \/no\/such\.cfg does not exist[\s\S]*--config-file/,
  },
];
for (const { given, env = {}, hint } of slips) {
  test(`cattail ${given.join(" ")}: exit code 1 and a hint on standard error`, async () => {
    const { code, stdout, stderr } = await cattail(given, { env });
    equal(code, 1, stdout + stderr);
    equal(stdout, "");
    match(stderr, hint);
    ok(!/\n {4}at /.test(stderr), `a stack is no hint: ${stderr}`);
  });
}

test("certs secret needs the pairs and the CA's certificate, not the CA's key, and never leads to a new CA", async () => {
  const dir = join(folder, "handed-out");
  await cattail(["certs", "all", "--dir", dir]);
  rmSync(join(dir, "typhaca.key"));
  const { code, stdout } = await cattail(["certs", "secret", "--dir", dir]);
  equal(code, 0);
  match(stdout, /kind: ConfigMap[\s\S]*typhaca\.crt[\s\S]*kind: Secret[\s\S]*typha\.key[\s\S]*calico-node\.key/);
  rmSync(join(dir, "typhaca.crt"));
  const { code: refused, stderr } = await cattail(["certs", "secret", "--dir", dir]);
  equal(refused, 1);
  match(stderr, /typhaca\.crt, the CA's certificate, does not exist[\s\S]*key is not needed/);
  ok(!stderr.includes("certs init"), stderr);
});

test("a demo that may not write its certificates says so, and which variable names another folder", async () => {
  const ports = ["--port", `${await freePort()}`, "--dashboard-port", `${await freePort()}`];
  const { code, stderr } = await cattail(["demo", ...ports], { env: { TMPDIR: "/proc" } });
  equal(code, 1);
  match(stderr, /cannot create a folder for the demo's certificates in \/proc[\s\S]*TMPDIR/);
  ok(!/\n {4}at /.test(stderr), `a stack is no hint: ${stderr}`);
});

for (const shell of ["bash", "zsh", "fish"]) {
  const isThere = spawnSync(shell, ["-c", "exit 0"]).status === 0;
  test(`the completion script for ${shell} parses`, {
    skip: isThere ? false : `${shell} is not installed`,
  }, async () => {
    const script = join(folder, `completion.${shell}`);
    writeFileSync(script, (await cattail(["completion", shell])).stdout);
    const { status, stderr } = spawnSync(shell, ["-n", script], { encoding: "utf8" });
    equal(status, 0, stderr);
  });
}

test("bash completes commands, sub-commands and options", async () => {
  const script = join(folder, "completion.sh");
  writeFileSync(script, (await cattail(["completion", "bash"])).stdout);
  const complete = (...words: string[]) => {
    const list = words.map((word) => `'${word}'`).join(" ");
    const run = `source ${script}; COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _cattail; echo "\${COMPREPLY[@]}"`;
    return spawnSync("bash", ["-c", run], { encoding: "utf8" }).stdout.trim();
  };
  equal(complete("cattail", "ty"), "typha");
  equal(complete("cattail", "certs", "ins"), "inspect");
  equal(complete("cattail", "certs", "renew", "--keep"), "--keep-key");
});

const plain: { given: string[]; env?: { [name: string]: string } }[] = [
  { given: ["--help"] },
  { given: ["certs", "all", "--dir", "DIR"] },
  { given: ["manifests", "rbac"] },
  { given: ["doctor"], env: { TYPHA_DATASTORETYPE: "memory", NO_COLOR: "1" } },
  { given: ["doctor"], env: { TYPHA_DATASTORETYPE: "memory" } },
  { given: ["doctor"], env: { TYPHA_DATASTORETYPE: "memory", NO_COLOR: "1", FORCE_COLOR: "1" } },
];
for (const { given, env = {} } of plain) {
  const set = Object.entries(env).map(([name, value]) => `${name}=${value} `);
  test(`${set.join("")}cattail ${given.join(" ")} puts no escape codes into a pipe`, async () => {
    const parameters = given.map((one) => (one === "DIR" ? join(folder, "certs") : one));
    const free = { TYPHA_SERVERPORT: `${await freePort()}` }; // doctor tries it
    const { stdout, stderr } = await cattail(parameters, { env: { ...free, ...env } });
    ok(stdout.length > 0);
    ok(!(stdout + stderr).includes("\u001b"));
  });
}

const unwritable: { given: string[]; full: number; gone: number; env?: { [name: string]: string } }[] = [
  { given: ["version"], full: 1, gone: 0 },
  { given: ["version", "--help"], full: 1, gone: 0 },
  { given: ["manifests", "rbac"], full: 1, gone: 0 },
  { given: ["completion", "bash"], full: 1, gone: 0 },
  { given: ["typha", "--print-settings"], full: 1, gone: 0 },
  // A setting that does not exist is a warning, and the verdict stays what it is.
  { given: ["doctor"], full: 2, gone: 1, env: { TYPHA_DATASTORETYPE: "memory", TYPHA_NOSUCHSETTING: "1" } },
];
const isFullThere = existsSync("/dev/full");
for (const { given, full, gone, env = {} } of unwritable) {
  const name = `cattail ${given.join(" ")}`;
  const settings = async () => ({ TYPHA_SERVERPORT: `${await freePort()}`, ...env });

  test(`${name} to a full disk: exit code ${full}, and why`, {
    skip: isFullThere ? false : "there is no /dev/full",
  }, async () => {
    const stdout = openSync("/dev/full", "w");
    try {
      const { code, stderr } = await cattail(given, { stdout, env: await settings() });
      equal(code, full, stderr);
      match(stderr, /^cattail: standard output cannot be written \(ENOSPC[\s\S]*OUTPUT_UNWRITABLE\)\n$/);
    } finally {
      closeSync(stdout);
    }
  });

  test(`${name} to a reader who has gone: exit code ${gone}, and no complaint`, async () => {
    await using started = new Cattail(given, { env: await settings() });
    started.process.stdout?.destroy();
    equal(await started.ended, gone, started.stderr);
    equal(started.stderr, "");
  });
}

test("too few open files: exit code 1 and the limit's name", async () => {
  // Takes all there are as the server's modules are about to be read.
  const hook = `import { registerHooks } from "node:module"; import { openSync } from "node:fs";
    registerHooks({ load(url, context, next) {
      if (url.endsWith("/programs/typha/command.ts")) try { for (;;) openSync("/dev/null"); } catch {}
      return next(url, context);
    } });`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` };
  const program = ["sh", "-c", 'ulimit -n 100 && exec "$0" "$@"', process.execPath, "src/programs/main/main.ts"];
  const { code, stderr } = await cattail(["typha"], { program, env });
  equal(code, 1, stderr);
  match(stderr, /EMFILE[\s\S]*ulimit -n[\s\S]*TOO_MANY_FILES/);
  ok(!/\n {4}at /.test(stderr), stderr);
});
