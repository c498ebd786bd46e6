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

// As our own reports have them: red, green, yellow, and their end. Others could hide what is said.
const colours = /(\p{Cc}\[(?:0|31|32|33)m)/u;

/** With its lines and its colours. */
export function colouredText(text: string): string {
  return text
    .split(colours)
    .map((part, index) => (index % 2 === 1 && part.startsWith("\u001b") ? part : plainText(part)))
    .join("");
}

function spelled(one: string): string {
  return `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
