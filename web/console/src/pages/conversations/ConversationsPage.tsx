import { useEffect, useState } from "react";
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
  const [fresh, setFresh] = useState<string | null>(null);
  useEffect(() => {
    if (fresh) document.getElementById("main")?.focus(); // the dialog that had it is gone, and the button behind it
  }, [fresh]);
  const open = (of: string) => {
    set({ id: of });
    setFresh(of);
  };
  if (id) return <One key={id} id={id} onFresh={open} />;
  return <Live params={params} set={set} />;
}
