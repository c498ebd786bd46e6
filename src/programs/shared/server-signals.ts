// The signals that a server answers, caught from its first moment on. Until somebody listens, Node ends at SIGTERM and
// SIGHUP and opens its debugger at SIGUSR1; and the first process of a container never hears of a SIGTERM at all. Those
// that come before the server can answer are kept, and answered then.
const names = ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"] as const;

export type ServerSignal = (typeof names)[number];

export class ServerSignals {
  #early: ServerSignal[] = [];
  #answer: ((signal: ServerSignal) => void) | undefined;
  readonly #listener = (signal: NodeJS.Signals) => {
    const known = names.find((name) => name === signal);
    if (known === undefined) return;
    if (this.#answer !== undefined) this.#answer(known);
    // Once is enough to be remembered; only of those that end it does the second mean something else.
    else if (isEnding(known) || !this.#early.includes(known)) this.#early.push(known);
  };

  constructor() {
    for (const name of names) process.on(name, this.#listener);
  }

  answer(how: (signal: ServerSignal) => void): void {
    this.#answer = how;
    for (const signal of this.#early.splice(0)) how(signal);
  }

  /** For what is no server: signals end it as they end any program, those that came meanwhile too. */
  release(): void {
    for (const name of names) process.off(name, this.#listener);
    for (const signal of this.#early.splice(0)) if (isEnding(signal)) process.kill(process.pid, signal);
  }
}

export function isEnding(signal: ServerSignal): boolean {
  return signal === "SIGTERM" || signal === "SIGINT";
}
