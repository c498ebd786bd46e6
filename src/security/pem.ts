// PEM blocks, both ways. Go reads the CERTIFICATE blocks of a file and passes over the rest; so does this.

export function certificatesInPem(pem: string): Buffer[] {
  return [...pem.matchAll(/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----([^-]*)-----END/g)].map(([, body = ""]) =>
    Buffer.from(body.replace(/\s+/g, ""), "base64"),
  );
}

export function toPem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
