// Which values never appear in a log, on a page or on the screen, told by the name of the setting or variable.
export function isSecretName(name: string): boolean {
  const lower = name.toLowerCase();
  if (/(file|path)$/.test(lower)) return false;
  return (
    /password|passwd|passphrase|token|bearer|secret|credential|authorization|cookie|private/.test(lower) ||
    /(key|cert|kubeconfig|kubeconfiginline)$/.test(lower)
  );
}

export const redacted = "<redacted>";
