// Kubernetes' rules for names, label keys and label values, which the validation filter applies to every API object.

const label = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";
const subdomain = new RegExp(`^${label}(?:\\.${label})*$`);
const namePart = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && subdomain.test(text);
}

/** An optional DNS prefix and a slash, then up to 63 letters, digits and inner - _ or dots. */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf("/");
  const name = text.slice(slash + 1);
  if (slash >= 0 && !isDnsSubdomain(text.slice(0, slash))) return false;
  return name.length <= 63 && namePart.test(name);
}

export function isLabelValue(text: string): boolean {
  return text === "" || (text.length <= 63 && namePart.test(text));
}
