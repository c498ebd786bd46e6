// What `npm pack` gives: the same bytes wherever it is built; installed into an empty folder it runs, its types resolve, and
// it is small. Dependencies are taken from this checkout's node_modules, so that no test needs a registry but the one that
// lets npm itself install it.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { bundled, readLockfile, runtimePackages } from "../../tools/release/lockfile.ts";
import { copiedCommit, copyCheckout } from "../kit/checkout-copy.ts";
import { noLab } from "../kit/lab-under-test.ts";

let folder = "";
let archive = "";
let installed = "";

before(() => {
  folder = mkdtempSync(join(tmpdir(), "cattail-package-"));
  archive = pack("checkout");
  installed = join(folder, "app", "node_modules", "cattail");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["xzf", archive, "--strip-components=1", "-C", installed]);
  for (const name of readdirSync("node_modules")) {
    if (name !== "cattail-runtime")
      symlinkSync(resolve("node_modules", name), join(folder, "app", "node_modules", name));
  }
});

/** Packs a copy of the checkout, in which nothing was built, in a folder of this name; gives the archive. */
function pack(name: string, from?: string): string {
  const copy = join(folder, name);
  copyCheckout(copy, from);
  const env = { ...process.env, CATTAIL_COMMIT: copiedCommit };
  execFileSync("npm", ["pack", "--silent", "--pack-destination", copy], { cwd: copy, env, stdio: "pipe" });
  return join(copy, readdirSync(copy).find((file) => file.endsWith(".tgz")) ?? "");
}

after(() => rmSync(folder, { recursive: true, force: true }));

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string }; // our own file

test("the package runs `cattail version` in an empty folder", () => {
  const program = [join(installed, "bin/cattail"), "version", "-o", "json"];
  const output = execFileSync(process.execPath, program, { cwd: join(folder, "app"), encoding: "utf8" });
  const said = JSON.parse(output) as { version: string; commit: string }; // printed by src/programs/main/version.ts
  deepEqual([said.version, said.commit], [`v${version}`, copiedCommit]);
});

test("the package's `cattail ctl`, by a link named calicoctl, keeps what it compiled in the user's cache", () => {
  const home = join(folder, "home");
  mkdirSync(home);
  const link = join(folder, "calicoctl");
  symlinkSync(join(installed, "bin/cattail"), link);
  const env = { PATH: process.env.PATH, HOME: home };
  const client = () => execFileSync(process.execPath, [link, "version", "--client"], { env, encoding: "utf8" });
  const first = client();
  match(first, new RegExp(`^Client Version: +v3\\.\\d+\\.0-cattail-${version}\nGit commit: +${copiedCommit}\n$`));
  const kept = readdirSync(join(home, ".cache/cattail/programs"));
  equal(kept.length, 1);
  match(kept[0] ?? "", /^ctl-version-[0-9a-f]{16}$/);
  equal(client(), first);
  const help = execFileSync(process.execPath, [link, "get", "--help"], { env, encoding: "utf8" });
  match(help, /^Usage: calicoctl get /);
});

const commands = "typha demo node lab watch explain cni certs manifests doctor completion version".split(" ");
test("each command of the package answers --help, and one that needs a cluster says what it lacks", () => {
  const run = (...words: string[]) => {
    const [cwd, env] = [join(folder, "app"), { PATH: process.env.PATH, HOME: folder }];
    return spawnSync(process.execPath, [join(installed, "bin/cattail"), ...words], { cwd, env, encoding: "utf8" });
  };
  for (const command of commands) {
    const { status, stdout, stderr } = run(command, "--help");
    equal(status, 0, stderr);
    match(stdout, new RegExp(`^Usage: cattail ${command} `));
  }
  match(run("explain", "a", "b").stderr, /KUBECONFIG_UNUSABLE/);
  match(run("manifests", "crds").stdout, /^kind: CustomResourceDefinition$/m);
});

test("the package's lab starts its own programs again, and everybody pings everybody", {
  skip: noLab,
  timeout: 240_000,
}, (t) => {
  const lab = join(folder, "lab");
  const run = (...words: string[]) => {
    const program = [join(installed, "bin/cattail"), "lab", ...words, "--folder", lab];
    return spawnSync(process.execPath, program, { cwd: join(folder, "app"), encoding: "utf8" });
  };
  t.after(() => run("down"));
  const { status, stdout, stderr } = run("up");
  equal(status, 0, stdout + stderr);
  match(stdout, /^All pings are answered: /m);
  equal(run("doctor").status, 0);
});

test("npm installs it into an empty folder, with what the lockfile calls runtime and nothing else", (context) => {
  const home = join(folder, "empty");
  mkdirSync(home);
  const lock = readLockfile();
  const own = { ...lock.packages[""], devDependencies: {}, resolved: `file:${archive}`, version };
  const wanted = runtimePackages(lock).filter(({ name }) => !bundled.includes(name));
  const packages = {
    "": { dependencies: { cattail: `file:${archive}` } },
    "node_modules/cattail": own,
    ...Object.fromEntries(wanted.map(({ path }) => [path, lock.packages[path]])),
  };
  writeFileSync(join(home, "package.json"), JSON.stringify(packages[""]));
  writeFileSync(join(home, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, requires: true, packages }));
  const why = npm(home, "ci", "--ignore-scripts");
  if (why !== undefined) return context.skip(why);
  const bin = join(home, "node_modules/.bin/cattail");
  match(
    execFileSync(process.execPath, [bin, "version"], { cwd: home, encoding: "utf8" }),
    new RegExp(`Version: +v${version}\n`),
  );
  const there = globSync("node_modules/{@*/*,[!@.]*}", { cwd: home }).map((path) => path.slice("node_modules/".length));
  const allowed = new Set([...wanted.map(({ name }) => name), "cattail"]);
  deepEqual(
    there.filter((name) => !allowed.has(name)),
    [],
  );
  const files = globSync("node_modules/**", { cwd: home }).map((name) => statSync(join(home, name)));
  const bytes = files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
  ok(bytes < 35_000_000, `${bytes} bytes are installed`);
});

/** Runs npm there. Why it could not, where the machine is to blame; what is wrong with the package fails. */
function npm(cwd: string, ...words: string[]): string | undefined {
  // The archives are in npm's cache since this checkout was installed; else the registry has them.
  const options = { cwd, encoding: "utf8", timeout: 300_000 } as const;
  const { status, stderr } = spawnSync("npm", [...words, "--prefer-offline", "--no-audit"], options);
  if (status === null)
    return "npm had not installed the dependencies after five minutes: a registry that does not answer?";
  if (status !== 0 && /ENOTCACHED|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ECONNRESET|E40\d|E50\d/.test(stderr))
    return `neither npm's cache nor a registry has the dependencies (${stderr.split("\n")[0]})`;
  equal(status, 0, stderr);
  return undefined;
}

// Those of the libraries are written by a newer one, with what it has learned since.
for (const typescript of ["5.4.5", "5.6.3"]) {
  test(`its types are understood by TypeScript ${typescript}`, (context) => {
    const home = join(folder, `typescript-${typescript}`);
    mkdirSync(join(home, "node_modules"), { recursive: true });
    write(join(home, "package.json"), JSON.stringify({ type: "module" }));
    const why = npm(home, "install", `typescript@${typescript}`, "@types/node@24.10.1");
    if (why !== undefined) return context.skip(why);
    symlinkSync(installed, join(home, "node_modules", "cattail"));
    const files = [...snippetsOf("README.md"), ...snippetsOf("src/typha/client/README.md")].map((code, index) =>
      write(join(home, `snippet-${index}.ts`), code),
    );
    files.push(
      write(join(home, "gob.ts"), `import { encoder, string } from "cattail/gob"; encoder(string()).encode("");`),
    );
    const flags = "--noEmit --strict --skipLibCheck false --module nodenext --target es2022 --lib esnext --types node";
    const tsc = spawnSync("node_modules/.bin/tsc", [...flags.split(" "), ...files], { cwd: home, encoding: "utf8" });
    equal(tsc.stdout, "");
    equal(tsc.status, 0, tsc.stderr);
  });
}

test("built in another folder it is the same, byte for byte", () => {
  const other = pack(join("another", "checkout with a longer name"), join(archive, ".."));
  const digest = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");
  const digests = (copy: string) => {
    const files = globSync("dist/**", { cwd: copy }).filter((name) => statSync(join(copy, name)).isFile());
    return Object.fromEntries(files.sort().map((name) => [name, digest(join(copy, name))]));
  };
  deepEqual(digests(join(other, "..")), digests(join(archive, "..")));
  equal(digest(other), digest(archive));
});

test("it names the packages that are bundled, with their licences", () => {
  const text = readFileSync(join(installed, "dist/licences.txt"), "utf8");
  const named = [...text.matchAll(/^(\S+) [\d.]+ \(\S+\)$/gm)].map(([, name]) => name);
  deepEqual(named, [...bundled]);
  match(text, /Permission is hereby granted/);
});

test("its client, under both names one module, and gob can be imported, and nothing else", () => {
  const program = `
    import * as root from "cattail"; import * as client from "cattail/client"; import { struct } from "cattail/gob";
    const inside = await import("cattail/dist/typha/server/index.js").catch(({ code }) => code);
    console.log(root === client, typeof root.follow, typeof struct, inside);`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: join(folder, "app"),
    encoding: "utf8",
  });
  equal(output.trim(), "true function function ERR_PACKAGE_PATH_NOT_EXPORTED");
});

const pages = ["README.md", "src/typha/client/README.md", "src/base/gob/README.md"];

for (const moduleResolution of ["nodenext", "bundler"]) {
  test(`its types carry every snippet and example in a strict program (${moduleResolution})`, () => {
    const app = join(folder, "app");
    const snippets = pages.flatMap((page) => snippetsOf(page));
    ok(snippets.length > 10);
    const files = [...snippets.entries()].map(([index, code]) => write(join(app, `snippet-${index}.ts`), code));
    for (const name of globSync("examples/*.ts"))
      files.push(write(join(app, basename(name)), readFileSync(name, "utf8")));
    const compilerOptions = {
      strict: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      module: moduleResolution === "bundler" ? "preserve" : "nodenext",
      moduleResolution,
      target: "esnext",
      noEmit: true,
      skipLibCheck: false,
      types: ["node"],
    };
    write(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    write(join(app, "package.json"), JSON.stringify({ type: "module" }));
    const tsc = spawnSync(resolve("node_modules/.bin/tsc"), ["-p", "."], { cwd: app, encoding: "utf8" });
    equal(tsc.stdout, "");
  });
}

function write(file: string, text: string): string {
  writeFileSync(file, text);
  return file;
}

/** Pages that state what holds with `assert` leave its import out. */
function snippetsOf(page: string): string[] {
  const blocks = [...readFileSync(page, "utf8").matchAll(/^```ts\n([\s\S]*?)^```/gm)];
  return blocks.map(([, code = ""]) =>
    /\bassert\./.test(code) ? `import assert from "node:assert/strict";\n${code}` : code,
  );
}

test("it holds no tests and no sources, and is under 9.5 MB", () => {
  const files = readdirSync(installed, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(installed, name)).isFile(),
  );
  equal(
    files.some((name) => name.includes(".test.") || name.startsWith("src")),
    false,
  );
  const bytes = files.reduce((sum, name) => sum + statSync(join(installed, name)).size, 0);
  ok(bytes < 9_500_000, `${bytes} bytes`);
  ok(
    files.includes(join("dist", "web", "page.js")) && readFileSync(join(installed, "dist/web/page.js")).length > 10_000,
  );
});
