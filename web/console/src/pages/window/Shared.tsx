import { Fragment } from "react";
import { Link } from "wouter";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { nameOf } from "../../ui/format";
import { T, t } from "../../words";
import { addressOf } from "../windows/address";
import type { PartProps } from "./Body";
import { useForms } from "./forms";
import styles from "./Holds.module.css";
import { Items } from "./Items";
import type { Segment } from "./query";

/** What a window shares with others: what it is, who else sees it, and what may be written into it. */
export function Shared(props: PartProps) {
  const { window } = props;
  const { identity } = useSession();
  const { open } = useForms();
  return (
    <>
      <div className={styles.head}>
        <h2>{t("windows.shared")}</h2>
        {has(identity, "memory:write") && (
          <Button icon="components" data-form="share" aria-expanded={open === "share"} action="window.share">
            {t("windows.share")}
          </Button>
        )}
      </div>
      {window.segments.length === 0 && <p className={styles.none}>{t("windows.shared.none")}</p>}
      {window.segments.map((s) => (
        <Items
          key={s.id}
          {...props}
          title={t("windows.segment", { name: s.name })}
          note={<SeenBy of={s} window={window.id} />}
          items={s.items}
        />
      ))}
    </>
  );
}

function SeenBy({ of: s, window }: { of: Segment; window: string }) {
  const { identity } = useSession();
  const { show } = useForms();
  const others = s.windows.filter((w) => w.id !== window);
  const hidden = s.windowCount - s.windows.length;
  return (
    <div className={styles.seen} data-segment={s.id}>
      <p>{t("windows.segment.windows", { n: s.windowCount })}</p>
      {others.length > 0 && (
        <p>
          <T
            id="windows.segment.others"
            values={{
              hidden,
              windows: (
                <>
                  {others.map((w, i) => (
                    <Fragment key={w.id}>
                      {i > 0 && ", "}
                      <Link href={addressOf(w.id)}>
                        <bdi>{w.name}</bdi>
                      </Link>
                      {w.agent && ` (${nameOf(w.agent)})`}
                    </Fragment>
                  ))}
                </>
              ),
            }}
          />
        </p>
      )}
      {s.items.length === 0 && <p>{t("windows.segment.none")}</p>}
      {has(identity, "memory:write") && (
        <div>
          <Button icon="edit" data-form={`write ${s.id}`} onClick={() => show("write", s.id)}>
            {t("windows.segment.write")}
          </Button>
        </div>
      )}
    </div>
  );
}
