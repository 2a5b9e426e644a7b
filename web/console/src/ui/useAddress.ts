import { useCallback } from "react";
import { useSearchParams } from "./useSearchParams";

type Change = Readonly<Record<string, string | null>>;

/** What stands in the address behind the question mark, and how to change parts of it; null takes one out. */
export function useAddress(): [URLSearchParams, (change: Change, how?: { replace?: boolean }) => void] {
  const [params, setParams] = useSearchParams();
  const set = useCallback(
    (change: Change, how?: { replace?: boolean }) =>
      setParams((p) => {
        const next = new URLSearchParams(p);
        for (const [name, value] of Object.entries(change)) {
          if (value === null) next.delete(name);
          else next.set(name, value);
        }
        return next;
      }, how),
    [setParams],
  );
  return [params, set];
}
