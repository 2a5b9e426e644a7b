import { useId, useState } from "react";
import { useQuery } from "urql";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { Picker } from "../../ui/Picker";
import { ComponentName } from "../../ui/Things";
import { t } from "../../words";
import { Wrong } from "./Form";
import { NewPlayer } from "./NewPlayer";
import styles from "./NewToken.module.css";

type Props = { chosen: string | null; wrong: string | undefined; onChoose: (hash: string | null) => void };

/** Whom a token stands for: found by name, given by hash, oneself, or described now. */
export function PlayerField({ chosen, wrong, onChoose }: Props) {
  const { identity } = useSession();
  const hint = useId();
  const [describing, setDescribing] = useState(false);
  const [{ data, fetching }, again] = useQuery({
    query: ComponentName,
    variables: { hash: chosen ?? "" },
    pause: chosen === null,
  });
  const unknown = chosen !== null && !fetching && data !== undefined && data.component === null;
  const mayDescribe = has(identity, "memory:write");
  return (
    <fieldset className={styles.group}>
      <legend>{t("tokens.player")}</legend>
      <Picker
        label={t("tokens.player.label")}
        namespaces={["PLY", "PLU", "PLX"]}
        hint={t("tokens.player.hint")}
        most={1}
        chosen={chosen ? [chosen] : []}
        invalid={wrong !== undefined}
        describedBy={hint}
        onChoose={([hash]) => onChoose(hash ?? null)}
      />
      {wrong && <Wrong>{wrong}</Wrong>}
      <p id={hint} className={styles.hint}>
        {unknown ? t("tokens.player.unknown") : t("tokens.player.sees")}
      </p>
      {describing ? (
        <NewPlayer
          hash={unknown ? chosen : null}
          onDescribed={(hash) => {
            setDescribing(false);
            onChoose(hash);
            again();
          }}
          onClose={() => setDescribing(false)}
        />
      ) : (
        <div className={styles.actions}>
          {chosen !== identity.player && (
            <Button onClick={() => onChoose(identity.player)}>{t("tokens.player.self")}</Button>
          )}
          {mayDescribe && (
            <Button icon="plus" onClick={() => setDescribing(true)}>
              {unknown ? t("tokens.player.describe") : t("tokens.player.describe.new")}
            </Button>
          )}
        </div>
      )}
    </fieldset>
  );
}
