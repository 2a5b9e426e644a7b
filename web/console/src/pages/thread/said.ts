import type { MessageCheck } from "../../chain/check";
import { deniesErasure } from "../../chain/erasure";
import type { IconName } from "../../ui/icons";
import { type Id, t } from "../../words";
import type { State } from "./link";

const states: Record<State, { icon: IconName; words: Id }> = {
  CHAINED: { icon: "link", words: "thread.integrity.CHAINED" },
  SEALED: { icon: "sealed", words: "thread.integrity.SEALED" },
  WITNESSED: { icon: "witnessed", words: "thread.integrity.WITNESSED" },
  ERASED: { icon: "erased", words: "thread.integrity.ERASED" },
};

/**
 * In words, how far a message is proved before any proof was looked at: as the server says, by name, but for what its own
 * check here found. own: that check, erasure included.
 */
export function saidOf(
  { integrity: { state, leafIndex } }: { integrity: { state: State; leafIndex: number | null } },
  own: Pick<MessageCheck, "findings" | "erased">,
): { icon: IconName; words: string } {
  const wrong = own.findings.length > 0;
  const at = (words: Id): string => {
    if (leafIndex === null) return t(words);
    return t(words === states[state].words ? "thread.integrity.leaf" : "thread.integrity.hashed", {
      state: t(words),
      leaf: leafIndex,
    });
  };
  if (own.findings.some(deniesErasure)) return { icon: "erased", words: at("thread.integrity.gone") };
  if (wrong) return { icon: "broken", words: at("thread.integrity.altered") };
  if (own.erased) return { icon: "erased", words: at("thread.integrity.ERASED") };
  if (state === "ERASED") return { icon: "warning", words: at("thread.integrity.given") };
  // What has a leaf is sealed, unless the server finds that it is not what was sealed.
  if (state === "CHAINED" && leafIndex !== null) return { icon: "warning", words: at("thread.integrity.unfit") };
  const { icon, words } = states[state];
  return { icon, words: at(words) };
}
