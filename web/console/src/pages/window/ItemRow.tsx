import { useState } from "react";
import { useMutation } from "urql";
import { Link } from "wouter";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { SourceLink } from "../../selection/SourceHead";
import { Button } from "../../ui/Button";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { Icon } from "../../ui/icons";
import { Time } from "../../ui/Time";
import { T, t } from "../../words";
import type { PartProps } from "./Body";
import { Entries } from "./Entries";
import styles from "./Item.module.css";
import { QualityOf } from "./QualityOf";
import { type Item, RemoveFromWindow, type WholeWindow } from "./query";
import { Share } from "./Share";
import { Text } from "./Text";

type Props = PartProps & { item: Item };

/** An item: what it says, what it costs, how good it is, what vouches for it and where it came from. */
export function ItemRow({ item: i, window, read, onChanged }: Props) {
  const { identity } = useSession();
  return (
    <article className={styles.item} data-type={i.type} data-item={i.id}>
      <header className={styles.head}>
        <b>{t(`windows.type.${i.type}`)}</b>
        {i.key && <code>{i.key}</code>}
        {i.injected && <span className={styles.mark}>{t("windows.injected")}</span>}
        <span>{t("windows.tokens.n", { n: i.tokens })}</span>
        <Share tokens={i.tokens} capacity={window.capacity} />
      </header>
      <Text of={i.content} />
      <footer className={styles.foot}>
        <QualityOf quality={i.quality} />
        {read && <Verified item={i} />}
        {i.source && (
          <span>
            <T id="windows.from" values={{ source: <SourceLink hash={i.source.hash} source={i.source} /> }} />
          </span>
        )}
        <span>
          <T id="windows.added" values={{ when: <Time at={i.addedAt} /> }} />
        </span>
        {i.observedAt !== i.addedAt && (
          <span>
            <T id="windows.observed" values={{ when: <Time at={i.observedAt} /> }} />
          </span>
        )}
        {has(identity, "memory:write") && <Remove item={i} window={window} onDone={onChanged} />}
      </footer>
      {i.summaryOf.length > 0 && (
        <Entries window={window} ids={i.summaryOf} label={t("windows.summaryOf", { n: i.summaryOf.length })} />
      )}
    </article>
  );
}

function Verified({ item: { verifiedBy } }: { item: Item }) {
  if (!verifiedBy) {
    return (
      <span className={styles.unverified} title={t("windows.unverified.title")}>
        <Icon name="unchecked" size={14} />
        {t("windows.unverified")}
      </span>
    );
  }
  const record = (
    <Link href={`/records?record=${verifiedBy.hash}`}>
      <bdi>{verifiedBy.title}</bdi>
    </Link>
  );
  return (
    <span className={styles.verified}>
      <Icon name="verified" size={14} />
      <span>
        <T id="windows.verified" values={{ record }} />
      </span>
    </span>
  );
}

function Remove({ item, window, onDone }: { item: Item; window: WholeWindow; onDone: () => void }) {
  const [open, setOpen] = useState(false);
  const [, remove] = useMutation(RemoveFromWindow);
  const shared = window.segments.find((s) => s.items.includes(item));
  const onConfirm = async () => {
    const { error } = await remove({ window: window.id, items: [item.id] });
    if (!error) onDone();
    return error ?? null;
  };
  return (
    <>
      <Button look="quiet" icon="close" onClick={() => setOpen(true)}>
        {t("windows.remove")}
      </Button>
      {open && (
        <ConfirmDialog
          title={t("windows.remove.title")}
          icon="close"
          confirm={t("windows.remove.confirm")}
          onConfirm={onConfirm}
          onClose={() => setOpen(false)}
        >
          <Text of={item.content} />
          <p>{t("windows.remove.means", { n: item.tokens })}</p>
          {shared && <p>{t("windows.remove.shared", { n: shared.windowCount })}</p>}
        </ConfirmDialog>
      )}
    </>
  );
}
