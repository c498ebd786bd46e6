// What `npm pack` gives: installed into an empty folder it runs, its types resolve, and it is small. Dependencies are
// taken from this checkout's node_modules, so that the test needs no registry.
import { equal, match, ok } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
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
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";

let folder = "";
let installed = "";

before(() => {
  folder = mkdtempSync(join(tmpdir(), "cattail-package-"));
  // Built in a copy: other tests read this checkout meanwhile.
  const copy = join(folder, "checkout");
  mkdirSync(copy);
  for (const name of [
    "src",
    "web",
    "tools",
    "bin",
    "package.json",
    "tsconfig.json",
    "tsconfig.build.json",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
  ]) {
    cpSync(name, join(copy, name), { recursive: true });
  }
  symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
  execFileSync(process.execPath, ["tools/build.ts"], { cwd: copy });
  execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: copy });
  const archive = readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "";
  installed = join(folder, "app", "node_modules", "cattail");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["xzf", join(folder, archive), "--strip-components=1", "-C", installed]);
  for (const name of readdirSync("node_modules")) {
    if (name !== "cattail-runtime")
      symlinkSync(resolve("node_modules", name), join(folder, "app", "node_modules", name));
  }
});

after(() => rmSync(folder, { recursive: true, force: true }));

test("the package runs `cattail version` in an empty folder", () => {
  const output = execFileSync(process.execPath, [join(installed, "bin/cattail"), "version"], {
    cwd: join(folder, "app"),
    encoding: "utf8",
  });
  match(output, /Version: +v\d/);
});

test("its client and gob can be imported by their sub-paths", () => {
  const program = `import { follow } from "cattail/client"; import { struct } from "cattail/gob"; console.log(typeof follow, typeof struct);`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: join(folder, "app"),
    encoding: "utf8",
  });
  equal(output.trim(), "function function");
});

test("its types resolve for a strict TypeScript program", () => {
  const app = join(folder, "app");
  writeFileSync(
    join(app, "use.ts"),
    `import { follow, type Update } from "cattail/client";\nexport async function count() { let updates = 0; for await (const update of follow({ servers: "x" })) { const seen: Update = update; if (seen.is === "set") updates += 1; } return updates; }\n`,
  );
  writeFileSync(
    join(app, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        module: "nodenext",
        target: "esnext",
        noEmit: true,
        skipLibCheck: false,
        types: ["node"],
      },
      files: ["use.ts"],
    }),
  );
  writeFileSync(join(app, "package.json"), JSON.stringify({ type: "module" }));
  execFileSync(resolve("node_modules/.bin/tsc"), ["-p", "."], { cwd: app, stdio: "pipe" });
});

test("it holds no tests and no sources, and is under 5 MB", () => {
  const files = readdirSync(installed, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(installed, name)).isFile(),
  );
  equal(
    files.some((name) => name.includes(".test.") || name.startsWith("src")),
    false,
  );
  const bytes = files.reduce((sum, name) => sum + statSync(join(installed, name)).size, 0);
  ok(bytes < 5_000_000, `${bytes} bytes`);
  ok(
    files.includes(join("dist", "web", "page.js")) && readFileSync(join(installed, "dist/web/page.js")).length > 10_000,
  );
});
