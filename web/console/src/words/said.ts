import type { Id } from "./ids";

/** A message that is not yet in a language: what modules give that know no reader, and what passes to workers and back. */
export type Said = { id: Id; values?: Readonly<Record<string, string | number | Said>> };

/** An error that says what is wrong in any language; its own message is for programmers. */
export class SaidError extends Error {
  constructor(readonly said: Said) {
    super(`${said.id} ${JSON.stringify(said.values ?? {})}`);
  }
}
