// The log as an argument: an event in plain words plus fields. observe/ has the implementation that writes lines;
// everything below it takes this type and cannot tell where lines go.

/** What a line says beside its words, by name. */
export type LogFields = { readonly [name: string]: unknown };

/** Takes an event in plain words, with fields. */
export type Log = {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
};

const drop = () => undefined;
export const silentLog: Log = { debug: drop, info: drop, warn: drop, error: drop };
