import { useTitle } from "../../app/title";
import { useAddress } from "../../ui/useAddress";
import { t } from "../../words";
import { Live } from "./Live";
import { One } from "./One";

/**
 * What assistants know now: the conversations of a user that have not expired, and one of them with all of its memory and
 * what a model would be asked next. The address holds the assistant, the user and which one is open.
 */
export default function ConversationsPage() {
  useTitle(t("conversations.title"));
  const [params, set] = useAddress();
  const id = params.get("id");
  if (id) return <One key={id} id={id} onFresh={(fresh) => set({ id: fresh })} />;
  return <Live params={params} set={set} />;
}
