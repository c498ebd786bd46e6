// Names that nobody has taken. Not secret: whoever uses one makes the file so that an existing one is refused. (node:crypto would take
// 6 ms of every program's start.)

/** So many hex digits, by chance. */
export function chanceHex(digits: 8 | 16): string {
  const eight = (): string =>
    Math.floor(Math.random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  return digits === 8 ? eight() : eight() + eight();
}
