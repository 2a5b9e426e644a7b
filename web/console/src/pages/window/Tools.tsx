import { type SubmitEvent, useId, useRef, useState } from "react";
import { type CombinedError, useClient } from "urql";
import { useAction } from "../../actions/useAction";
import { asCombined } from "../../api/errors";
import { ask } from "../../api/query";
import { has } from "../../api/rights";
import { useSession } from "../../api/session";
import { Button } from "../../ui/Button";
import { count, short } from "../../ui/format";
import { Icon } from "../../ui/icons";
import { isEmptyJson, Json } from "../../ui/Json";
import { ErrorScreen } from "../../ui/Screen";
import { type Shown, Table } from "../../ui/table/Table";
import { Take } from "../../ui/take/Take";
import { t } from "../../words";
import { Body, type PartProps } from "./Body";
import { toolColumns } from "./columns";
import { useForms } from "./forms";
import { SearchToolsQuery, type Tool, WindowQuery } from "./query";
import styles from "./Tools.module.css";

const limits = { described: 30, found: 5 }; // as the schema states them

/** The tools of a window, which of them it describes, and those that fit a purpose. */
export function Tools({ window, read, onChanged }: PartProps) {
  const { tools } = window;
  const { identity } = useSession();
  const { open } = useForms();
  const shown = tools.filter((tool) => tool.shown).length;
  return (
    <Body label={t("windows.which.tools")}>
      <Search window={window.id} many={tools.length > limits.described} onFound={onChanged} />
      <div className={styles.head}>
        <h2>{t("windows.tools")}</h2>
        <div className={styles.ways}>
          {has(identity, "memory:write") && (
            <Button icon="plus" data-form="register" aria-expanded={open === "register"} action="window.register">
              {t("windows.register")}
            </Button>
          )}
          <Take
            name={t("windows.tools")}
            file={`tools-${short(window.id)}`}
            columns={toolColumns()}
            rows={tools}
            request={{ query: WindowQuery, variables: { id: window.id, read } }}
          />
        </div>
      </div>
      <p className={styles.note}>
        {t("windows.tools.sum", { n: tools.length, shown })}
        {tools.length > limits.described && ` ${t("windows.tools.many", { most: limits.described })}`}
        {tools.length === 0 && ` ${t("windows.tools.none")}`}
      </p>
      {tools.length > 0 && (
        <Table id="tools" name={t("windows.tools")} columns={columnsOf()} rows={tools} keyOf={(tool) => tool.name} />
      )}
    </Body>
  );
}

const columnsOf = (): Shown<Tool>[] => [
  { id: "name", head: t("table.head.name"), value: (tool) => tool.name, cell: (tool) => <code>{tool.name}</code> },
  {
    id: "shown",
    head: t("windows.tools.state"),
    value: (tool) => tool.shown,
    cell: (tool) => <State tool={tool} />,
  },
  {
    id: "tokens",
    head: t("windows.tokens"),
    numeric: true,
    value: (tool) => tool.tokens,
    cell: (tool) => count(tool.tokens),
  },
  {
    id: "description",
    head: t("table.head.description"),
    value: (tool) => tool.description,
    cell: (tool) => <About tool={tool} />,
  },
];

function State({ tool }: { tool: Tool }) {
  return (
    <span className={styles.state} data-shown={tool.shown}>
      <Icon name={tool.shown ? "check" : "unchecked"} size={14} />
      {t(tool.shown ? "windows.tools.shown" : "windows.tools.aside")}
    </span>
  );
}

function About({ tool }: { tool: Tool }) {
  return (
    <div className={styles.about}>
      <p dir="auto">{tool.description}</p>
      {!isEmptyJson(tool.schema) && (
        <details>
          <summary aria-label={t("windows.tools.schema.of", { tool: tool.name })}>{t("windows.tools.schema")}</summary>
          <Json value={tool.schema} label={t("windows.tools.schema.of", { tool: tool.name })} />
        </details>
      )}
    </div>
  );
}

type SearchProps = { window: string; many: boolean; onFound: () => void };

// Asked for by a button and not while one types: what is found is described in the window from then on.
function Search({ window, many, onFound }: SearchProps) {
  const client = useClient();
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const [found, setFound] = useState<Tool[] | CombinedError | null>(null);
  const [busy, setBusy] = useState(false);
  useAction("page.find", () => field.current?.focus());
  const submit = async (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (typed.trim() === "" || busy) return;
    setBusy(true);
    try {
      const asked = { window, query: typed.trim(), limit: limits.found };
      setFound((await ask(client, SearchToolsQuery, asked)).searchTools);
      onFound();
    } catch (error) {
      setFound(asCombined(error));
    }
    setBusy(false);
  };
  return (
    <search className={styles.search}>
      <form onSubmit={(e) => void submit(e)}>
        <label htmlFor={id}>{t("windows.tools.find")}</label>
        <input
          ref={field}
          id={id}
          value={typed}
          onChange={(e) => setTyped(e.target.value)}
          aria-describedby={`${id}n`}
        />
        <Button type="submit" icon="search" disabled={busy}>
          {busy ? t("ui.working") : t("windows.tools.search")}
        </Button>
      </form>
      <p id={`${id}n`} className={styles.note}>
        {t(many ? "windows.tools.find.many" : "windows.tools.find.few")}
      </p>
      {found instanceof Error && <ErrorScreen error={found} />}
      {Array.isArray(found) && (
        <div role="status">
          {found.length === 0 ? (
            <p className={styles.note}>{t("windows.tools.find.none")}</p>
          ) : (
            <ol className={styles.found} aria-label={t("windows.tools.found")}>
              {found.map((tool) => (
                <li key={tool.name}>
                  <code>{tool.name}</code> <span dir="auto">{tool.description}</span>
                </li>
              ))}
            </ol>
          )}
        </div>
      )}
    </search>
  );
}
