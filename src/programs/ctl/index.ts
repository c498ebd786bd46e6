// What other rooms see of ctl: its table. How a process starts it is process-console.ts, which does not load this.
export { nextWords } from "./command-line/words.ts";
export { commands, groups } from "./commands.ts";
export { ctlPage } from "./ctl-page.ts";
