import type { ActionId } from "./registry";

/** Does it. event: the key that asked for it; false if that key is to mean what else it means. */
export type Handler = (event?: KeyboardEvent) => unknown;

/** Something that can be done now. of: to what, in words, where one page offers the same for several things; else null. */
export type Choice = { id: ActionId; of: string | null };

type Offer = { run: Handler; enabled: boolean; of: string | null };

/**
 * What the pages that are shown offer at this moment. Where two offer the same action, of the same, the one that came
 * last has it: it stands over the other.
 */
export class Offers {
  private readonly byId = new Map<ActionId, Offer[]>();
  private readonly listeners = new Set<() => void>();
  private all: readonly Choice[] = [];

  /** Offers an action until the function that it gives is called. */
  offer(id: ActionId, run: Handler, enabled: boolean, of: string | null = null): () => void {
    const offer = { run, enabled, of };
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

  /** What would be done now, each action's in the order in which they came. It is the same list until something changes. */
  readonly choices = (): readonly Choice[] => this.all;

  /** Does an action, if it is offered and enabled: of what is given, else of what came last. Gives whether it was done. */
  run(id: ActionId, event?: KeyboardEvent, of?: string | null): boolean {
    const offer = this.enabled(id).findLast((o) => of === undefined || o.of === of);
    return offer !== undefined && offer.run(event) !== false;
  }

  /** Calls back after each change until the function that it gives is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  // Of each thing the offer that came last, if it is enabled.
  private enabled(id: ActionId): Offer[] {
    const offers = this.byId.get(id) ?? [];
    return offers.filter((o, i) => o.enabled && !offers.slice(i + 1).some((later) => later.of === o.of));
  }

  private tell(): void {
    const all = [...this.byId.keys()].flatMap((id) => this.enabled(id).map(({ of }) => ({ id, of })));
    if (all.length === this.all.length && all.every((c, i) => c.id === this.all[i]?.id && c.of === this.all[i]?.of))
      return;
    this.all = all;
    for (const listener of this.listeners) listener();
  }
}
