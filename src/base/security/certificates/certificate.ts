// What a certificate says, read from its DER. Node's own view is not enough for the identity check: it joins several
// common names into one text and renders SANs as one escaped line, while the rule (docs/decisions/0012) needs the last
// common name and each URI exactly.
import { children, childrenOf, type DerNode, oidText, readNode, stringText, tags, timeMs } from "./der.ts";

export type CertificateFacts = {
  /** The last common name of the subject, which is the one Go's verifier looks at; "" where there is none. */
  readonly commonName: string;
  readonly subject: string;
  readonly issuer: string;
  /** URI SANs as Go renders them: the scheme in lower case, the rest as written. */
  readonly uriSans: readonly string[];
  readonly dnsSans: readonly string[];
  readonly ipSans: readonly string[];
  /** Object identifiers; undefined where the extension is absent, which allows every use. */
  readonly extendedKeyUsages: readonly string[] | undefined;
  /** What the key may do; undefined where the extension is absent, which allows everything. */
  readonly keyUsages: readonly KeyUsage[] | undefined;
  readonly isAuthority: boolean;
  readonly serial: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
};

const keyUsageNames = [
  "digitalSignature",
  "nonRepudiation",
  "keyEncipherment",
  "dataEncipherment",
  "keyAgreement",
  "keyCertSign",
  "cRLSign",
  "encipherOnly",
  "decipherOnly",
] as const;
type KeyUsage = (typeof keyUsageNames)[number];

export const usages = {
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
  any: "2.5.29.37.0",
} as const;

export const oids = {
  commonName: "2.5.4.3",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  keyUsage: "2.5.29.15",
  extendedKeyUsage: "2.5.29.37",
  subjectKeyIdentifier: "2.5.29.14",
  authorityKeyIdentifier: "2.5.29.35",
} as const;

const shortNames: ReadonlyMap<string, string> = new Map([
  [oids.commonName, "CN"],
  ["2.5.4.6", "C"],
  ["2.5.4.7", "L"],
  ["2.5.4.8", "ST"],
  ["2.5.4.10", "O"],
  ["2.5.4.11", "OU"],
]);

// TLS allows 16 MiB of certificate message; no certificate that names a node needs more than this.
const maxCertificateBytes = 64 * 1024;

export function parseCertificate(der: Uint8Array): CertificateFacts {
  if (der.length > maxCertificateBytes) throw new Error(`a certificate of ${der.length} bytes`);
  const whole = readNode(der);
  if (whole.whole.length < der.length) throw new Error("something after its end");
  const [body] = childrenOf(whole, tags.sequence);
  const fields = childrenOf(body, tags.sequence);
  if (fields[0]?.tag === 0xa0) fields.shift(); // the version, which version 1 leaves out
  const [serial, , issuer, validity, subject, , ...optional] = fields;
  const [notBefore, notAfter] = childrenOf(validity, tags.sequence);
  if (serial === undefined || notBefore === undefined || notAfter === undefined) throw new Error("fields are missing");
  const subjectParts = nameParts(subject);
  const extensions = optional.find((field) => field.tag === 0xa3);
  return {
    commonName: subjectParts.findLast(({ oid }) => oid === oids.commonName)?.text ?? "",
    subject: nameText(subjectParts),
    issuer: nameText(nameParts(issuer)),
    serial: Buffer.from(serial.content).toString("hex"),
    notBeforeMs: timeMs(notBefore),
    notAfterMs: timeMs(notAfter),
    ...extensionFacts(extensions === undefined ? [] : childrenOf(children(extensions)[0], tags.sequence)),
  };
}

/** The parts of a certificate that its successor or its children repeat byte for byte. */
export function certificateParts(der: Uint8Array): { subject: Buffer; extensions: ReadonlyMap<string, Buffer> } {
  const fields = childrenOf(childrenOf(readNode(der), tags.sequence)[0], tags.sequence);
  if (fields[0]?.tag === 0xa0) fields.shift();
  const wrapper = fields.find((field) => field.tag === 0xa3);
  const extensions = wrapper === undefined ? [] : childrenOf(children(wrapper)[0], tags.sequence);
  return {
    subject: Buffer.from(fields[4]?.whole ?? []),
    extensions: new Map(
      extensions.map((extension) => {
        const [id] = childrenOf(extension, tags.sequence);
        if (id === undefined) throw new Error("an extension without a name");
        return [oidText(id), Buffer.from(extension.whole)];
      }),
    ),
  };
}

/**
 * A URI as Go's net/url prints what it parsed: the scheme in lower case, a bare "#" at the end gone, and a path or
 * fragment with a letter that must not stand in one escaped throughout. (What Go cannot parse is left as it is.)
 */
export function renderUri(uri: string): string {
  const [, scheme = "", rest = "", query = "", fragment = ""] =
    /^([A-Za-z][A-Za-z0-9+.-]*:)?([^?#]*)(\?[^#]*)?(?:#(.*))?$/s.exec(uri) ?? [];
  const [, authority = "", path = ""] = /^(\/\/[^/]*)?(.*)$/s.exec(rest) ?? [];
  const isOpaque = scheme !== "" && !rest.startsWith("/");
  const place = isOpaque ? rest : `${authority === "//" && path === "" ? "" : authority}${escaped(path, inPath)}`;
  return `${scheme.toLowerCase()}${place}${query}${fragment === "" ? "" : `#${escaped(fragment, inFragment)}`}`;
}

/** What may stand there as it is, and what is left as it is where the whole is escaped anew. */
const inPath = { valid: /^[A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]%]*$/, plain: /[A-Za-z0-9\-_.~$&+,/:;=@]/ };
const inFragment = { valid: /^[A-Za-z0-9\-_.~$&+,/:;=?@!'()*[\]%]*$/, plain: /[A-Za-z0-9\-_.~$&+,/:;=?@!()*]/ };

function escaped(raw: string, { valid, plain }: typeof inPath): string {
  if (valid.test(raw) || /%(?![0-9A-Fa-f]{2})/.test(raw)) return raw;
  const bytes = Buffer.from(raw).toString("latin1");
  const unescaped = bytes.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const inHex = (byte: string) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  return unescaped.replace(/./gs, (byte) => (plain.test(byte) ? byte : inHex(byte)));
}

type ExtensionFacts = Pick<
  CertificateFacts,
  "uriSans" | "dnsSans" | "ipSans" | "extendedKeyUsages" | "keyUsages" | "isAuthority"
>;

function extensionFacts(extensions: DerNode[]): ExtensionFacts {
  const found = { uriSans: [] as string[], dnsSans: [] as string[], ipSans: [] as string[] };
  let extendedKeyUsages: string[] | undefined;
  let keyUsages: KeyUsage[] | undefined;
  let isAuthority = false;
  for (const extension of extensions) {
    const parts = childrenOf(extension, tags.sequence);
    const [id] = parts;
    const value = parts.at(-1);
    if (id === undefined || value?.tag !== tags.octetString) throw new Error("an extension without a value");
    // Others may hold anything: a value need not be DER to be passed over.
    const inside = () => childrenOf(readNode(value.content), tags.sequence);
    switch (oidText(id)) {
      case oids.subjectAltName:
        for (const name of inside()) addName(found, name);
        break;
      case oids.extendedKeyUsage:
        extendedKeyUsages = inside().map(oidText);
        break;
      case oids.keyUsage:
        keyUsages = keyUsagesOf(readNode(value.content));
        break;
      case oids.basicConstraints: {
        const [ca] = inside();
        isAuthority = ca?.tag === tags.boolean && ca.content[0] !== 0;
        break;
      }
    }
  }
  return { ...found, extendedKeyUsages, keyUsages, isAuthority };
}

/** A bit string: a byte that says how many bits at the end do not count, then bits from the highest down. */
function keyUsagesOf(bits: DerNode): KeyUsage[] {
  if (bits.tag !== tags.bitString) throw new Error("a key usage that is no bit string");
  const bytes = bits.content.subarray(1);
  return keyUsageNames.filter((_, bit) => ((bytes[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0);
}

function addName(to: { uriSans: string[]; dnsSans: string[]; ipSans: string[] }, name: DerNode): void {
  if (name.tag === 0x86) to.uriSans.push(renderUri(stringText(name)));
  else if (name.tag === 0x82) to.dnsSans.push(stringText(name));
  else if (name.tag === 0x87) to.ipSans.push(addressText(name.content));
}

type NamePart = { oid: string; text: string };

function nameParts(name: DerNode | undefined): NamePart[] {
  return childrenOf(name, tags.sequence).flatMap((relative) =>
    childrenOf(relative, tags.set).map((attribute) => {
      const [oid, value] = childrenOf(attribute, tags.sequence);
      if (oid === undefined || value === undefined) throw new Error("a name without a value");
      return { oid: oidText(oid), text: stringText(value) };
    }),
  );
}

function nameText(parts: NamePart[]): string {
  return parts.map(({ oid, text }) => `${shortNames.get(oid) ?? oid}=${text}`).join(", ");
}

function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups: string[] = [];
  for (let i = 0; i + 1 < bytes.length; i += 2)
    groups.push((((bytes[i] ?? 0) << 8) | (bytes[i + 1] ?? 0)).toString(16));
  // The longest run of zero groups becomes "::", as everybody prints addresses.
  const runs = [...groups.join(":").matchAll(/(?<![0-9a-f])0(?::0)+(?![0-9a-f])/g)];
  const longest = runs.sort((a, b) => b[0].length - a[0].length)[0];
  if (longest === undefined) return groups.join(":");
  const text = groups.join(":");
  const before = text.slice(0, longest.index).replace(/:$/, "");
  const after = text.slice(longest.index + longest[0].length).replace(/^:/, "");
  return `${before}::${after}`;
}
