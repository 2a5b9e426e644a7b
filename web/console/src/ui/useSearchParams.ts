import { useMemo } from "react";
import { navigate, useSearch } from "wouter/use-browser-location";

type Next = URLSearchParams | ((now: URLSearchParams) => URLSearchParams);

/** Puts other parameters into the address, behind the same path. */
function set(next: Next, how?: { replace?: boolean }): void {
  const { pathname, search } = window.location;
  const text = (typeof next === "function" ? next(new URLSearchParams(search)) : next).toString();
  navigate(text === "" ? pathname : `${pathname}?${text}`, how);
}

/**
 * What stands in the address behind the question mark, and how to change it. In place of wouter's hook of this name, which
 * decodes it once too often: there, somebody who searches for "%41" is shown, and asks for, "A".
 */
export function useSearchParams(): [URLSearchParams, typeof set] {
  const search = useSearch();
  return [useMemo(() => new URLSearchParams(search), [search]), set];
}
