// Whether Go's regexp would compile a text: settings have fields that are regular expressions, and programs in Go
// compile them. Only the syntax is looked at, from left to right and without recursion; nothing is ever matched. Not
// looked at: Go's limits on the size of what it compiles to, which take thousands of characters or of nested groups.

const flagsOrGroup = /\(\?[imsU]*(?:-[imsU]+)?([:)])/y;
const namedGroup = /\(\?P?<\w+>/y;
const quoted = /\\Q([\s\S]*?)(?:\\E|$)/y;
const operator = /[*+?]\??|\{(?<min>0|[1-9]\d*)(?<comma>,(?<max>0|[1-9]\d*)?)?\}\??/y;
const place = /\\[AbBz]/y;
/** A kind of character, in a class or by itself. */
const kind = /\\(?:[dDsSwW]|[pP](?:\{\^?(?<name>[^}]*)\}|(?<letter>[^{])))/uy;
/** A character that is not itself: \n, \x41, \101, \. */
const escapeSequence =
  /\\(?:(?<control>[afnrtv])|x(?:(?<hex>[0-9a-fA-F]{2})|\{(?<long>[0-9a-fA-F]+)\})|(?<octal>0[0-7]{0,2}|[1-7][0-7]{1,2})|(?<sign>[\0-/:-@[-`{-\x7f]))/y;
const posixClass = /\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]/y;

const controls: { readonly [letter: string]: number } = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };
const maxCharacter = 0x10ffff;
/** No repeat may be of more, with those inside it counted in. */
const maxRepeats = 1000;

/** A group that is open, or the whole text. */
type Group = {
  /** How often the last item repeats what is innermost in it; undefined: there is none yet to be repeated. */
  last: number | undefined;
  /** The most of any item before it. */
  most: number;
};

export function isGoRegexp(text: string): boolean {
  const outer: Group[] = [];
  const lastName = text.lastIndexOf(":]");
  let group: Group = { last: undefined, most: 1 };
  let isRepeated = false;
  let at = 0;
  while (at < text.length) {
    const wasRepeated = isRepeated;
    isRepeated = false;
    const character = text[at];
    let next = at + 1;
    if (character === "(") {
      next = endOfOpening(text, at);
      if (next < 0) return false;
      if (text[next - 1] === ")") {
        at = next; // flags alone, which are no item: what stands before them may still be repeated
        continue;
      }
      outer.push(group);
      group = { last: undefined, most: 1 };
    } else if (character === ")") {
      const around = outer.pop();
      if (around === undefined) return false;
      follow(group, undefined);
      follow(around, group.most);
      group = around;
    } else if (character === "|") {
      follow(group, undefined);
    } else if (character === "\\" && text[next] === "Q") {
      const [whole = "", literal] = matchAt(quoted, text, at) ?? [];
      if (literal !== "") follow(group, 1);
      next = at + whole.length;
    } else {
      const repeat = matchAt(operator, text, at);
      if (repeat === undefined) {
        next = endOfItem(text, at, lastName);
        if (next < 0) return false;
        follow(group, 1);
      } else {
        const times = repeats(repeat.groups ?? {});
        if (wasRepeated || group.last === undefined || times === undefined) return false;
        group.last = times === 0 ? 1 : group.last * times;
        if (group.last > maxRepeats) return false;
        isRepeated = true;
        next = at + repeat[0].length;
      }
    }
    at = next;
  }
  return outer.length === 0;
}

/** The last item will not change any more, and there is another one, or none. */
function follow(group: Group, next: number | undefined): void {
  group.most = Math.max(group.most, group.last ?? 1);
  group.last = next;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at; // sticky
  return pattern.exec(text) ?? undefined;
}

/** Where what follows an opening bracket begins; -1: Go does not know it. */
function endOfOpening(text: string, at: number): number {
  if (text[at + 1] !== "?") return at + 1;
  const opening = matchAt(flagsOrGroup, text, at) ?? matchAt(namedGroup, text, at);
  return opening === undefined ? -1 : at + opening[0].length;
}

/** How often it repeats, where * and + count as once; undefined: not a number of times that there can be. */
function repeats({ min, comma, max }: { readonly [name: string]: string | undefined }): number | undefined {
  if (min === undefined) return 1;
  const least = Number(min);
  const most = comma === undefined ? least : max === undefined ? undefined : Number(max);
  if (least > maxRepeats || (most !== undefined && (most > maxRepeats || most < least))) return undefined;
  return most ?? Math.max(1, least);
}

/** After a character, a kind or a class of them, or a place such as \b; -1: it is none. */
function endOfItem(text: string, at: number, lastName: number): number {
  if (text[at] === "[") return endOfClass(text, at + 1, lastName);
  const found = matchAt(place, text, at);
  if (found !== undefined) return at + found[0].length;
  const isKind = matchAt(kind, text, at);
  return isKind === undefined ? (characterAt(text, at)?.end ?? -1) : endOfKind(isKind, at);
}

function endOfKind({ 0: whole, groups }: RegExpExecArray, at: number): number {
  const name = groups?.name ?? groups?.letter;
  return name === undefined || isUnicodeClass(name) ? at + whole.length : -1;
}

/** After the closing bracket. One that comes first stands for itself; `[:` opens a name where any `:]` follows. */
function endOfClass(text: string, start: number, lastName: number): number {
  let at = text[start] === "^" ? start + 1 : start;
  for (let isFirst = true; isFirst || text[at] !== "]"; isFirst = false) {
    if (text.startsWith("[:", at) && lastName >= at + 2) {
      const named = matchAt(posixClass, text, at);
      if (named === undefined) return -1;
      at += named[0].length;
      continue;
    }
    const isKind = matchAt(kind, text, at);
    at = isKind === undefined ? endOfRange(text, at) : endOfKind(isKind, at);
    if (at < 0) return -1;
  }
  return at + 1;
}

/** After a character, or two with a dash between them that are in order. */
function endOfRange(text: string, at: number): number {
  const low = characterAt(text, at);
  if (low === undefined) return -1;
  const isRange = text[low.end] === "-" && low.end + 1 < text.length && text[low.end + 1] !== "]";
  if (!isRange) return low.end;
  const high = characterAt(text, low.end + 1);
  return high === undefined || high.code < low.code ? -1 : high.end;
}

/** The character at the place, which may be escaped; undefined: there is none, or Go does not know the escape. */
function characterAt(text: string, at: number): { readonly code: number; readonly end: number } | undefined {
  const code = text.codePointAt(at);
  if (code === undefined) return undefined;
  if (text[at] !== "\\") return { code, end: at + (code > 0xffff ? 2 : 1) };
  const escaped = matchAt(escapeSequence, text, at);
  if (escaped === undefined) return undefined;
  const { control = "", hex, long, octal, sign } = escaped.groups ?? {};
  const hexCode = hex ?? long;
  const codeOfEscape =
    controls[control] ??
    sign?.codePointAt(0) ??
    (hexCode === undefined ? Number.parseInt(octal ?? "", 8) : Number.parseInt(hexCode, 16));
  return codeOfEscape > maxCharacter ? undefined : { code: codeOfEscape, end: at + escaped[0].length };
}

// The names that Go's regular expressions know between the braces of \p{...}: Unicode's categories by both of their
// names, and scripts, in any case and with blanks, _ and - left out.

const categories =
  /^(?:c[cfnos]?|l[clmotu]?|m[cen]?|n[dlo]?|p[cdefios]?|s[ckmo]?|z[lps]?|any|ascii|assigned|cntrl|control|digit|format|other|privateuse|punct|surrogate|unassigned|(?:cased|lowercase|modifier|other|titlecase|uppercase)?letter|(?:combining|enclosing|nonspacing|spacing)?mark|(?:decimal|letter|other)?number|(?:close|connector|dash|final|initial|open|other)?punctuation|(?:currency|math|modifier|other)?symbol|(?:line|paragraph|space)?separator)$/;

/** The scripts whose full name has four letters, as the codes have that JavaScript knows besides and Go does not. */
const fourLetters = ["Ahom", "Cham", "Kawi", "Lisu", "Miao", "Modi", "Newa", "Thai", "Toto"];

function isUnicodeClass(name: string): boolean {
  const plain = name.replaceAll(/[ _-]/g, "").toLowerCase();
  return categories.test(plain) || isScript(plain.slice(0, 1).toUpperCase() + plain.slice(1));
}

/** Names of two words never match: Go leaves out the _ of what it looks for, but not of the names it has. */
function isScript(name: string): boolean {
  if (!/^[A-Z][a-z]+$/.test(name) || (name.length === 4 && !fourLetters.includes(name))) return false;
  try {
    new RegExp(`\\p{Script=${name}}`, "u");
    return true;
  } catch {
    return false; // a syntax error: there is no such script
  }
}
