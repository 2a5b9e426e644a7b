import type { ActionId } from "./registry";

/** Does it. event: the key that asked for it; false if that key is to mean what else it means. */
export type Handler = (event?: KeyboardEvent) => unknown;

type Offer = { run: Handler; enabled: boolean };

/**
 * What the pages that are shown offer at this moment. Where two offer the same action, the one that came last has it:
 * it stands over the other.
 */
export class Offers {
  private readonly byId = new Map<ActionId, Offer[]>();
  private readonly listeners = new Set<() => void>();
  private ids: readonly ActionId[] = [];

  /** Offers an action until the function that it gives is called. */
  offer(id: ActionId, run: Handler, enabled: boolean): () => void {
    const offer = { run, enabled };
    this.byId.set(id, [...(this.byId.get(id) ?? []), offer]);
    this.tell();
    return () => {
      this.byId.set(
        id,
        (this.byId.get(id) ?? []).filter((o) => o !== offer),
      );
      this.tell();
    };
  }

  /** The actions that would be done now, in no order. It is the same list until something changes. */
  readonly enabled = (): readonly ActionId[] => this.ids;

  /** Does an action, if it is offered and enabled. Gives whether it was done. */
  run(id: ActionId, event?: KeyboardEvent): boolean {
    const offer = this.byId.get(id)?.at(-1);
    return offer?.enabled ? offer.run(event) !== false : false;
  }

  /** Calls back after each change until the function that it gives is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private tell(): void {
    const ids = [...this.byId].filter(([, offers]) => offers.at(-1)?.enabled).map(([id]) => id);
    if (ids.length === this.ids.length && ids.every((id, i) => id === this.ids[i])) return;
    this.ids = ids;
    for (const listener of this.listeners) listener();
  }
}
