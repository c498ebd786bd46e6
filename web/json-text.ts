// JSON indented for a person, with its numbers as they came: read and written again, integers beyond 2^53 would change.

/** The text must be JSON. Strings are checked for first, so that what looks like a token inside of one is none. */
const tokens = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g;
/** No object comes near it. The deeper a line is the longer it becomes, so without an end it would fill the memory. */
const deepest = 200;

/** Undefined where it is nested too deep to be read by anybody. */
export function indented(json: string): string | undefined {
  let text = "";
  let depth = 0;
  let isJustOpened = false;
  const newLine = () => `\n${"  ".repeat(depth)}`;
  for (const [token] of json.matchAll(tokens)) {
    const isClosing = token === "}" || token === "]";
    if (isClosing) depth -= 1;
    // What is empty stays on one line.
    if (isClosing !== isJustOpened) text += newLine();
    isJustOpened = token === "{" || token === "[";
    if (isJustOpened) depth += 1;
    if (depth > deepest) return undefined;
    text += shown(token);
    if (token === ",") text += newLine();
  }
  return text;
}

function shown(token: string): string {
  if (token === ":") return ": ";
  // Go escapes "&", "<" and ">", which selectors are full of. A string, unlike a number, is the same when written again.
  return token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token;
}
