import { use, useSyncExternalStore } from "react";
import { lacks } from "../api/rights";
import { useSession } from "../api/session";
import { Offers } from "./offers";
import { type ActionId, actionIds, actionOf } from "./registry";
import { OffersContext } from "./useAction";

const none = new Offers(); // where nothing is signed in, nothing is offered

/** What can be done now on the page that is shown, by whoever is signed in, in the order of the registry. */
export function useActions(): { ids: ActionId[]; run: (id: ActionId) => void } {
  const { identity } = useSession();
  const offers = use(OffersContext) ?? none;
  const enabled = useSyncExternalStore(offers.subscribe, offers.enabled);
  return {
    ids: actionIds.filter((id) => enabled.includes(id) && lacks(identity, actionOf(id)) === ""),
    run: (id) => offers.run(id),
  };
}

/** Whether an action would be done now, and a way to do it. */
export function useOffered(id: ActionId | undefined): (() => void) | undefined {
  const offers = use(OffersContext) ?? none;
  const enabled = useSyncExternalStore(offers.subscribe, offers.enabled);
  return id && enabled.includes(id) ? () => offers.run(id) : undefined;
}
