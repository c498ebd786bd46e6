// Which view is on screen: the part of the address behind the "#", so that a link to a view can be sent to somebody.
import { useEffect, useState } from "preact/hooks";

export const views = ["overview", "nodes", "keys", "endpoints", "policies", "pair", "addresses", "watches"] as const;
export type View = (typeof views)[number];
export type Route = { readonly view: View; readonly parameters: URLSearchParams };

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return parseRoute(hash);
}

function parseRoute(hash: string): Route {
  const [name, query] = hash.replace(/^#\/?/, "").split("?");
  const view = views.find((candidate) => candidate === name) ?? "overview";
  return { view, parameters: new URLSearchParams(query) };
}

export function linkTo(view: View, parameters: { [name: string]: string } = {}): string {
  const query = new URLSearchParams(parameters).toString();
  return `#/${view}${query === "" ? "" : `?${query}`}`;
}
