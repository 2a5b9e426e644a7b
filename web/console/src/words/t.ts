import type { Id } from "./ids";
import { i18n } from "./load";
import { mask, unmask } from "./mask";

/** What stands in a message's places, by name. */
export type Values = Readonly<Record<string, string | number>>;

/** A message in the reader's language. To be called while a component is drawn, never once for a module. */
export const t = (id: Id, values: Values = {}): string => unmask(i18n._(id, mask(values)));
