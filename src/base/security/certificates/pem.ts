// PEM blocks, both ways. Reading follows Go's encoding/pem to the letter, because what a file holds is what the original
// finds in it: a block starts at the start of a line, ends with a whole END line, and anything else is passed over.
// OpenSSL's reader is more lenient here and stricter there, so it is only ever given what toPem() wrote.

export type PemBlock = { readonly label: string; readonly hasHeaders: boolean; readonly der: Buffer };

/** The certificates of a file; those of other labels ("TRUSTED CERTIFICATE") are none, as in Go. */
export function certificatesInPem(pem: string): Buffer[] {
  return pemBlocks(pem)
    .filter(({ label }) => label === "CERTIFICATE")
    .map(({ der }) => der);
}

export function pemBlocks(pem: string): PemBlock[] {
  const found: PemBlock[] = [];
  for (let rest = pem; ; ) {
    const end = rest.indexOf(endMark);
    if (end < 0) return found;
    const begin = rest.lastIndexOf(beginMark, end - beginMark.length);
    const afterEnd = end + endMark.length;
    if (begin >= 0 && (begin === 0 || rest[begin - 1] === "\n")) {
      // The newline before END may be the one that ends the BEGIN line.
      const block = readBlock(rest.slice(begin + beginMark.length, end + 1), firstLine(rest.slice(afterEnd)));
      if (block !== undefined) found.push(block);
    }
    rest = rest.slice(afterEnd);
  }
}

export function toPem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

const beginMark = "-----BEGIN ";
const endMark = "\n-----END ";
const dashes = "-----";

/** `text` is what lies between the two marks, `endLine` what follows the second on its line. */
function readBlock(text: string, endLine: string): PemBlock | undefined {
  const [labelLine = "", ...lines] = text.split("\n").map((line) => withoutBlanks(line.replace(/\r$/, "")));
  if (!labelLine.endsWith(dashes) || endLine !== labelLine) return undefined;
  const headerCount = lines.findIndex((line) => !line.includes(":"));
  // The last is the empty one before END, and headers need a line of their own after them.
  if (headerCount < 0 || (headerCount > 0 && headerCount === lines.length - 1)) return undefined;
  const body = lines
    .slice(headerCount)
    .join("")
    .replace(/[ \t\r]+/g, "");
  if (body.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(body)) return undefined;
  const label = labelLine.slice(0, -dashes.length);
  return { label, hasHeaders: headerCount > 0, der: Buffer.from(body, "base64") };
}

function firstLine(text: string): string {
  const end = text.indexOf("\n");
  // A lone CR at the end of the file is no line's end.
  return withoutBlanks(end < 0 ? text : text.slice(0, end).replace(/\r$/, ""));
}

function withoutBlanks(line: string): string {
  return line.replace(/[ \t]+$/, "");
}
