// Messages to another thread, gathered for one turn of the event loop and handed over together, in order: each hand-over
// costs both threads about as much as a small TLS write, and a thousand clients that connect at once say thousands of words.
// Bound: one turn's worth.

export class Mailbox<Message> {
  readonly #handOver: (messages: Message[]) => void;
  #waiting: Message[] = [];

  constructor(handOver: (messages: Message[]) => void) {
    this.#handOver = handOver;
  }

  post(message: Message): void {
    if (this.#waiting.length === 0) setImmediate(() => this.flush());
    this.#waiting.push(message);
  }

  /** Hands over what is waiting now: for the last words of a thread. */
  flush(): void {
    if (this.#waiting.length === 0) return;
    const messages = this.#waiting;
    this.#waiting = [];
    this.#handOver(messages);
  }
}
