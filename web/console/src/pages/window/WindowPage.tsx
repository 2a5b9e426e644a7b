import { useEffect, useState } from "react";
import { useQuery } from "urql";
import { Link } from "wouter";
import { useAction } from "../../actions/useAction";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { Needs } from "../../app/Needs";
import { useTitle } from "../../app/title";
import { Button } from "../../ui/Button";
import { Choice } from "../../ui/Choice";
import { Icon } from "../../ui/icons";
import { PageHead } from "../../ui/PageHead";
import { ErrorScreen, Loading, Screen } from "../../ui/Screen";
import { Side } from "../../ui/Side";
import { PlayerName } from "../../ui/Things";
import { useAddress } from "../../ui/useAddress";
import { t } from "../../words";
import { Compress } from "./Compress";
import { Delete } from "./Delete";
import { type FormName, useForms } from "./forms";
import { History } from "./History";
import { Holds } from "./Holds";
import { WindowQuery } from "./query";
import { Register } from "./Register";
import { Scratchpad } from "./Scratchpad";
import { Select } from "./Select";
import { ShareWith } from "./ShareWith";
import { Tools } from "./Tools";
import styles from "./Window.module.css";
import { Write } from "./Write";

const shows = ["items", "history", "scratchpad", "tools"] as const;

/** A window: what it holds, what was done to it and why, its scratchpad and its tools. The address says which is shown. */
export default function WindowPage({ id }: { id: string }) {
  const { identity } = useSession();
  const read = has(identity, "log:read");
  const [{ data, error, fetching }, refresh] = useQuery({
    query: WindowQuery,
    variables: { id, read },
  });
  const [turn, setTurn] = useState(0);
  const again = () => {
    refresh();
    setTurn((n) => n + 1);
  };
  useEffect(() => {
    // What had the focus may be gone with what was changed.
    if (turn > 0 && !fetching && document.activeElement === document.body) document.getElementById("main")?.focus();
  }, [turn, fetching]);
  const window = data?.window ?? null;
  useTitle(window ? window.name : t("windows.one"));
  const [params, set] = useAddress();
  const show = shows.find((s) => s === params.get("show")) ?? "items";
  const form = useForms();
  const segment = window?.segments.find((s) => s.id === form.about)?.id ?? "";
  const mayWrite = has(identity, "memory:write");
  const close = () => {
    const openers = [...document.querySelectorAll<HTMLElement>("[data-form]")];
    const named = (name: string) => openers.find((o) => o.dataset.form === name);
    form.show(null);
    (named(`${form.open} ${form.about}`) ?? named(`${form.open}`) ?? document.getElementById("main"))?.focus();
  };
  const offer = (name: FormName) => ({ enabled: mayWrite && window !== null && form.open !== name });
  useAction("window.write", () => form.show("write"), offer("write"));
  useAction("window.select", () => form.show("select"), offer("select"));
  useAction("window.share", () => form.show("share", "", { show: null }), offer("share"));
  useAction("window.register", () => form.show("register", "", { show: "tools" }), offer("register"));
  useAction("panel.close", close, { enabled: form.open !== null });
  const props = window && { window, read, turn, onChanged: again };
  return (
    <div className={styles.page}>
      <div className={styles.column}>
        <PageHead
          title={window ? <bdi>{window.name}</bdi> : t("windows.one")}
          note={window?.agent && <PlayerName player={window.agent} link />}
        >
          <Link href="/windows" className={styles.back}>
            <Icon name="back" />
            {t("windows.back")}
          </Link>
          <Button icon="retry" onClick={again} disabled={fetching}>
            {t("windows.again")}
          </Button>
          {window && mayWrite && (
            <>
              <Compress window={window} onDone={again} />
              <Delete window={window} />
              <Button icon="context" data-form="select" aria-expanded={form.open === "select"} action="window.select">
                {t("windows.select")}
              </Button>
              <Button
                icon="edit"
                look="primary"
                data-form="write"
                aria-expanded={form.open === "write"}
                action="window.write"
              >
                {t("windows.write")}
              </Button>
            </>
          )}
        </PageHead>
        {props ? (
          <>
            <div className={styles.which}>
              <Choice
                label={t("windows.which")}
                value={show}
                options={shows.map((value) => ({ value, word: t(`windows.which.${value}`) }))}
                onChoose={(value) => set({ show: value === "items" ? null : value, q: null }, { replace: true })}
              />
            </div>
            {show === "history" && <History {...props} />}
            {show === "scratchpad" && <Scratchpad {...props} />}
            {show === "tools" && <Tools {...props} />}
            {show === "items" && <Holds {...props} />}
          </>
        ) : error ? (
          <ErrorScreen error={error} retry={again} />
        ) : fetching ? (
          <Loading what={t("windows.loading")} />
        ) : (
          <Screen icon="search" title={t("windows.gone")}>
            {t("windows.gone.detail")}
          </Screen>
        )}
      </div>
      {props && form.open && (
        <Side
          key={`${form.open} ${form.about}`}
          title={t(`windows.${form.open}.title`)}
          close={t("windows.write.close")}
          onClose={close}
          focus
        >
          <Needs title={t("windows.write.closed")} scope="memory:write">
            {form.open === "write" &&
              (form.about !== "" && segment === "" && fetching ? ( // it was made just now
                <Loading what={t("windows.loading")} />
              ) : (
                <Write {...props} segment={segment} onClose={close} />
              ))}
            {form.open === "select" && <Select {...props} onClose={close} />}
            {form.open === "register" && <Register {...props} onClose={close} />}
            {form.open === "share" && (
              <ShareWith
                {...props}
                onMade={(made) => {
                  again();
                  form.show("write", made);
                }}
                onClose={close}
              />
            )}
          </Needs>
        </Side>
      )}
    </div>
  );
}
