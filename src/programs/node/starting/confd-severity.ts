// BGP_LOGSEVERITYSCREEN: what `node bgp` says on standard output, in confd's words, as the agent's setting has it.
const severities: { readonly [word: string]: string } = {
  panic: "FATAL",
  fatal: "FATAL",
  error: "ERROR",
  warn: "WARNING",
  warning: "WARNING",
  info: "INFO",
  debug: "DEBUG",
  trace: "TRACE",
};

/** Undefined: nothing is said, or nothing that confd knows, which changes nothing there either. */
export function screenSeverity({ BGP_LOGSEVERITYSCREEN: said = "" }: NodeJS.ProcessEnv): string | undefined {
  const word = said.toLowerCase();
  return Object.hasOwn(severities, word) ? severities[word] : undefined;
}
