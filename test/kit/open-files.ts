// How many files and sockets a process has open.
import { readdirSync } from "node:fs";

export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
