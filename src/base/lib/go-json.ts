// What is wrong with a text that should be JSON, in the words of Go's encoding/json: programs that stand in the place of Go's are asked by people
// who search for its sentences. JavaScript's parser says whether; this says why, at the first letter that cannot be.
//
//   goJsonProblem("10.0.0.1")   invalid character '.' after top-level value
//   goJsonProblem('["a",]')     invalid character ']' looking for beginning of value
//   goJsonProblem('{"a":')      unexpected end of JSON input

/** Undefined: nothing is. */
export function goJsonProblem(text: string): string | undefined {
  const reader = new Reader(text);
  try {
    reader.value();
    reader.space();
    if (!reader.isAtEnd) reader.refuse("after top-level value");
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

class Problem extends Error {}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  refuse(where: string): never {
    if (this.isAtEnd) throw new Problem("unexpected end of JSON input");
    throw new Problem(`invalid character ${quoted(this.#letter)} ${where}`);
  }

  space(): void {
    while (/[ \t\r\n]/.test(this.#letter)) this.#at++;
  }

  /** Without recursion: a text of a thousand brackets is a text like any other. */
  value(): void {
    const open: string[] = [];
    do {
      if (!this.#opens(open)) this.#closes(open);
    } while (open.length > 0);
  }

  /** Whether something is open now that has a value before it ends. */
  #opens(open: string[]): boolean {
    this.space();
    const letter = this.#letter;
    if (letter === "{" || letter === "[") {
      this.#at++;
      this.space();
      const end = letter === "{" ? "}" : "]";
      if (this.#takes(end)) return false;
      open.push(end);
      if (end === "}") this.#name();
      return true;
    }
    this.#plain(letter);
    return false;
  }

  /** After a value: whatever ends with it, and then the comma to the next one. */
  #closes(open: string[]): void {
    for (let end = open.at(-1); end !== undefined; end = open.at(-1)) {
      this.space();
      if (this.#takes(",")) {
        this.space();
        if (end === "}") this.#name();
        return;
      }
      if (!this.#takes(end)) this.refuse(end === "}" ? "after object key:value pair" : "after array element");
      open.pop();
    }
  }

  #name(): void {
    if (this.#letter !== '"') this.refuse("looking for beginning of object key string");
    this.#string();
    this.space();
    if (!this.#takes(":")) this.refuse("after object key");
  }

  #plain(letter: string): void {
    if (letter === '"') this.#string();
    else if (letter === "t") this.#word("true");
    else if (letter === "f") this.#word("false");
    else if (letter === "n") this.#word("null");
    else if (letter === "-" || isDigit(letter)) this.#number();
    else this.refuse("looking for beginning of value");
  }

  #string(): void {
    this.#at++;
    for (;;) {
      if (this.isAtEnd || this.#letter < " ") this.refuse("in string literal");
      if (this.#takes('"')) return;
      if (this.#takes("\\")) this.#escape();
      else this.#at++;
    }
  }

  #escape(): void {
    if (!this.#takes("u")) {
      if (!/^["\\/bfnrt]$/.test(this.#letter)) this.refuse("in string escape code");
      this.#at++;
      return;
    }
    for (let digit = 0; digit < 4; digit++) {
      if (!/^[0-9a-fA-F]$/.test(this.#letter)) this.refuse("in \\u hexadecimal character escape");
      this.#at++;
    }
  }

  #word(word: string): void {
    for (const letter of word) {
      const where = `in literal ${word} (expecting ${quoted(letter)})`;
      if (this.isAtEnd) throw new Problem(`invalid character ' ' ${where}`); // Go reads a space behind the text
      if (!this.#takes(letter)) this.refuse(where);
    }
  }

  #number(): void {
    this.#takes("-");
    if (!this.#takes("0")) this.#digits("in numeric literal");
    if (this.#takes(".")) this.#digits("after decimal point in numeric literal");
    if (this.#takes("e") || this.#takes("E")) {
      if (!this.#takes("+")) this.#takes("-");
      this.#digits("in exponent of numeric literal");
    }
  }

  /** One at least. */
  #digits(where: string): void {
    if (this.isAtEnd) throw new Problem(`invalid character ' ' ${where}`);
    if (!isDigit(this.#letter)) this.refuse(where);
    while (isDigit(this.#letter)) this.#at++;
  }

  #takes(letter: string): boolean {
    const isThere = this.#letter === letter;
    if (isThere) this.#at++;
    return isThere;
  }

  get #letter(): string {
    return this.#text[this.#at] ?? "";
  }
}

function isDigit(letter: string): boolean {
  return letter >= "0" && letter <= "9" && letter.length === 1;
}

/** Go looks at bytes: of a letter that is several it names the first. */
function quoted(letter: string): string {
  if (letter === "'") return `'\\''`;
  if (letter === '"') return `'"'`;
  const [byte = 0] = new TextEncoder().encode(letter);
  const named: { readonly [letter: string]: string } = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  const plain = named[letter] ?? String.fromCharCode(byte);
  const isUnseen = byte < 0x20 || (byte >= 0x7f && byte <= 0xa0) || byte === 0xad;
  return `'${named[letter] === undefined && isUnseen ? `\\x${byte.toString(16).padStart(2, "0")}` : plain}'`;
}
