import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { commands } from "../commands.ts";
import { findCommand } from "./find-command.ts";

const cases: { line: string; path: string; args: string; is: "command" | "group" }[] = [
  { line: "get nodes", path: "get", args: "nodes", is: "command" },
  { line: "--context c get nodes", path: "get", args: "--context c nodes", is: "command" },
  { line: "-l info get nodes", path: "get", args: "-l info nodes", is: "command" },
  { line: "-linfo get nodes", path: "get", args: "-linfo nodes", is: "command" },
  { line: "--allow-version-mismatch get nodes", path: "get", args: "--allow-version-mismatch nodes", is: "command" },
  { line: "-n get get pods", path: "get", args: "-n get pods", is: "command" },
  { line: "-R get pods", path: "get", args: "-R pods", is: "command" },
  { line: "get get", path: "get", args: "get", is: "command" },
  { line: "ipam show --ip 10.0.0.1", path: "ipam show", args: "--ip 10.0.0.1", is: "command" },
  { line: "ipam --context c show", path: "ipam show", args: "--context c", is: "command" },
  { line: "datastore migrate lock", path: "datastore migrate lock", args: "", is: "command" },
  { line: "ipam", path: "ipam", args: "", is: "group" },
  { line: "ipam frobnicate", path: "ipam", args: "frobnicate", is: "group" },
  { line: "frobnicate get", path: "", args: "frobnicate get", is: "group" },
  { line: "-- get nodes", path: "", args: "-- get nodes", is: "group" },
  { line: "", path: "", args: "", is: "group" },
];
for (const { line, path, args, is } of cases) {
  test(`"${line}" asks for ${is} "${path}"`, () => {
    const found = findCommand(split(line), commands);
    deepEqual(
      { path: found.path.join(" "), args: found.args.join(" "), is: found.command === undefined ? "group" : "command" },
      { path, args, is },
    );
  });
}

function split(line: string): string[] {
  return line === "" ? [] : line.split(" ");
}
