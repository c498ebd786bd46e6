// Text from elsewhere, for a terminal: what would move its cursor, ring its bell or turn its writing around is spelled out.
const controls = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** On one line. */
export function plainLine(text: string): string {
  return text.replace(controls, spelled);
}

/** With the lines it has. */
export function plainText(text: string): string {
  return text.replace(controls, (one) => (one === "\n" || one === "\t" ? one : spelled(one)));
}

function spelled(one: string): string {
  return `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
