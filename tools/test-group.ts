// Several test files in one process: those beside the code leave nothing behind that could spoil another, and to start a
// process takes longer than most of them. tools/run-tests.ts names the files.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

for (const file of process.argv.slice(2)) await import(pathToFileURL(resolve(file)).href);
