// What the Dockerfile promises, read from its text: an image can only be built where there is an engine and a registry.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { defaultInstallOptions, manifests } from "../../src/programs/manifests/index.ts";

type Instruction = { readonly word: string; readonly rest: string };

const stages = readStages(readFileSync("Dockerfile", "utf8"));
const build = stages[0] ?? [];
const image = stages.at(-1) ?? [];
const last = (word: string) => image.findLast((one) => one.word === word)?.rest;

test("the image has no shell, no package manager and no Node but ours", () => {
  equal(stages.length, 2);
  match(last("FROM") ?? "", /^gcr\.io\/distroless\/cc-debian\d+:nonroot$/);
  deepEqual(
    image.filter(({ word }) => word === "RUN" || word === "ADD"),
    [],
  );
});

test("the image runs as the user that the Deployment asks for, by number: a kubelet cannot check a name", () => {
  equal(last("USER"), "10001:10001");
  const text = JSON.stringify(manifests("typha", { ...defaultInstallOptions, serviceMonitor: false }));
  match(text, /"runAsUser":10001,"runAsGroup":10001/);
});

test("the image starts cattail itself, so that signals reach it, and serves unless told otherwise", () => {
  deepEqual(JSON.parse(last("ENTRYPOINT") ?? ""), ["/usr/local/bin/cattail"]);
  deepEqual(JSON.parse(last("CMD") ?? ""), ["typha"]);
  equal(last("STOPSIGNAL"), "SIGTERM");
});

test("the image answers to the names of the original", () => {
  const commands = build.filter(({ word }) => word === "RUN").flatMap(({ rest }) => rest.split("&&"));
  const links = commands.flatMap((one) => /^\s*ln -s (\S+) \/image(\S+)/.exec(one)?.slice(1, 3).join(" ") ?? []);
  deepEqual(links, ["cattail /usr/local/bin/calico-typha", "../local/bin/cattail /usr/bin/calico"]);
});

test("everything that the build copies is there, and passes .dockerignore", () => {
  const kept = readFileSync(".dockerignore", "utf8").split("\n");
  ok(kept.includes("*"));
  const copied = build.filter(({ word }) => word === "COPY").flatMap(({ rest }) => rest.split(" ").slice(0, -1));
  ok(copied.length > 4);
  for (const path of copied) {
    ok(existsSync(path), path);
    ok(kept.includes(`!${path.split("/")[0]}`), path);
  }
});

test("every folder that the executable is bundled from is copied", () => {
  const copied = build.filter(({ word }) => word === "COPY").flatMap(({ rest }) => rest.split(" ").slice(0, -1));
  const files = ["tools/build-binary.ts", ...globSync("tools/binary/*.ts")];
  const folders = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/from "((?:\.\.\/)+[^"]+)"/g)].map(
      ([, path = ""]) => relative(".", join(dirname(file), path)).split("/")[0] ?? "",
    ),
  );
  ok(folders.includes("bin"));
  deepEqual(
    [...new Set(folders)].filter((folder) => !copied.includes(folder)),
    [],
  );
});

test("what the build runs is a script of package.json", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { [name: string]: string } };
  equal(scripts["build:binary"], "node tools/build-binary.ts");
  ok(build.some(({ word, rest }) => word === "RUN" && rest.includes("npm run build:binary")));
});

test("the node's image has what the agent runs, and answers to what manifests of the original call", () => {
  const node = readStages(readFileSync("Dockerfile.node", "utf8"));
  const runs = (node.at(-1) ?? []).filter(({ word }) => word === "RUN").map(({ rest }) => rest);
  for (const needed of ["bird2", "nftables", "iptables", "iproute2"])
    ok(
      runs.some((text) => text.includes(needed)),
      needed,
    );
  for (const link of [
    "/usr/bin/calico-node",
    "/usr/bin/calico",
    "/usr/bin/calico-ipam",
    "/opt/cni/bin/install",
    "/opt/cni/bin/calico",
    "/opt/cni/bin/calico-ipam",
  ])
    ok(
      runs.some((text) => text.split(/ && |$/).some((one) => one.trim().endsWith(`/usr/local/bin/cattail ${link}`))),
      link,
    );
  deepEqual(JSON.parse(node.at(-1)?.findLast(({ word }) => word === "CMD")?.rest ?? ""), ["node", "run"]);
});

test("both images are built alike", () => {
  const steps = (file: string) =>
    (readStages(readFileSync(file, "utf8"))[0] ?? []).filter(({ word }) => word !== "RUN");
  deepEqual(steps("Dockerfile.node"), steps("Dockerfile"));
});

function readStages(text: string): Instruction[][] {
  const lines = text
    .replace(/^\s*#.*\n/gm, "")
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line !== "");
  const found: Instruction[][] = [];
  for (const line of lines) {
    const [, word = "", rest = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    ok(word !== "", `not an instruction: ${line}`);
    if (word === "FROM") found.push([]);
    found.at(-1)?.push({ word, rest });
  }
  return found;
}
