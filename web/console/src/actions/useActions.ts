import { use, useSyncExternalStore } from "react";
import { lacks } from "../api/rights";
import { useSession } from "../api/session";
import { type Choice, Offers } from "./offers";
import { type ActionId, actionIds, actionOf } from "./registry";
import { OffersContext } from "./useAction";

const none = new Offers(); // where nothing is signed in, nothing is offered

type Actions = { choices: Choice[]; run: (choice: Choice) => void };

/** What can be done now on the page that is shown, by whoever is signed in, in the order of the registry. */
export function useActions(): Actions {
  const { identity } = useSession();
  const offers = use(OffersContext) ?? none;
  const all = useSyncExternalStore(offers.subscribe, offers.choices);
  return {
    choices: actionIds
      .filter((id) => lacks(identity, actionOf(id)) === "")
      .flatMap((id) => all.filter((choice) => choice.id === id)),
    run: ({ id, of }) => offers.run(id, undefined, of),
  };
}

/** Whether an action would be done now, and a way to do it. */
export function useOffered(id: ActionId | undefined): (() => void) | undefined {
  const offers = use(OffersContext) ?? none;
  const all = useSyncExternalStore(offers.subscribe, offers.choices);
  return id && all.some((choice) => choice.id === id) ? () => offers.run(id) : undefined;
}
