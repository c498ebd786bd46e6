// CALICO_NETWORKING_BACKEND, and the ancient CALICO_NETWORKING, which wins where it is set: so the image of calico/node has it.

/** Undefined: nobody says. */
export function backendSaid(environment: NodeJS.ProcessEnv): string | undefined {
  const { CALICO_NETWORKING: ancient, CALICO_NETWORKING_BACKEND: backend } = environment;
  if (ancient) return ancient === "false" ? "none" : "bird";
  return backend || undefined;
}
