import type { ReactNode } from "react";
import { lacks, type Needs as What } from "../api/rights";
import { useSession } from "../api/session";
import { Screen } from "../ui/Screen";

/** Shows what needs a right to those who have it, and tells the others what they lack. */
export function Needs({ title, children, ...needs }: What & { title: string; children: ReactNode }) {
  const { identity } = useSession();
  const why = lacks(identity, needs);
  if (!why) return children;
  return (
    <Screen icon="key" title={title}>
      {why}
    </Screen>
  );
}
