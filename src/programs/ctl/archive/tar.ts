// Files as a tar: the POSIX form (ustar), which every tar reads. Pure: bytes out.
//
//   header (512 bytes) ▸ content, filled up to 512 ▸ … ▸ two empty blocks
//
// A name that does not fit into the header's 100 and 155 bytes goes before it, in a header of its own (pax).

export type TarEntry = { readonly name: string; readonly content: Uint8Array; readonly modifiedMs: number };

const blockBytes = 512;

/** The header, the content and what fills it up. */
export function tarEntry({ name, content, modifiedMs }: TarEntry): Uint8Array[] {
  const path = safeName(name);
  const place = splitName(path);
  const fields = { modifiedMs, type: "0" };
  if (place !== undefined) return [header({ ...fields, ...place, size: content.length }), ...filled(content)];
  const said = paxRecord("path", path);
  return [
    header({ modifiedMs, type: "x", name: "PaxHeader", prefix: "", size: said.length }),
    ...filled(said),
    header({
      ...fields,
      name: Buffer.from(path).subarray(0, 100).toString("latin1"),
      prefix: "",
      size: content.length,
    }),
    ...filled(content),
  ];
}

export const tarEnd: Uint8Array = new Uint8Array(2 * blockBytes);

/** Relative, and never upwards: what a server calls an object must not lead out of the folder where somebody unpacks this. */
export function safeName(name: string): string {
  const parts = name.split("/").filter((part) => part !== "" && part !== "." && part !== "..");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in a name
  return parts.map((part) => part.replaceAll(/[\u0000-\u001f\\]/g, "_")).join("/") || "unnamed";
}

function splitName(path: string): { name: string; prefix: string } | undefined {
  const bytes = Buffer.from(path);
  if (bytes.length <= 100) return { name: bytes.toString("latin1"), prefix: "" };
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
    const [prefix, name] = [Buffer.from(path.slice(0, at)), Buffer.from(path.slice(at + 1))];
    if (prefix.length <= 155 && name.length > 0 && name.length <= 100) {
      return { name: name.toString("latin1"), prefix: prefix.toString("latin1") };
    }
  }
  return undefined;
}

type Header = {
  /** Bytes as latin1. */
  readonly name: string;
  readonly prefix: string;
  readonly size: number;
  readonly modifiedMs: number;
  readonly type: string;
};

function header({ name, prefix, size, modifiedMs, type }: Header): Uint8Array {
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number) => Math.max(0, Math.floor(value)).toString(8).padStart(digits, "0");
  block.write(name, 0, 100, "latin1");
  block.write("0000600\0", 100); // mode: for whoever collected it
  block.write("0000000\0", 108); // owner and group
  block.write("0000000\0", 116);
  block.write(`${octal(size, 11)}\0`, 124);
  block.write(`${octal(modifiedMs / 1000, 11)}\0`, 136);
  block.write(" ".repeat(8), 148); // while the sum is made
  block.write(type, 156);
  block.write("ustar\x0000", 257);
  block.write(prefix, 345, 155, "latin1");
  let sum = 0;
  for (const byte of block) sum += byte;
  block.write(`${octal(sum, 6)}\0 `, 148);
  return block;
}

function filled(content: Uint8Array): Uint8Array[] {
  const missing = (blockBytes - (content.length % blockBytes)) % blockBytes;
  return missing === 0 ? [content] : [content, new Uint8Array(missing)];
}

/** "LENGTH path=NAME\n", where the length counts itself. */
function paxRecord(key: string, value: string): Uint8Array {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (String(length).length !== String(rest).length) length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
}
