import { isAdmin } from "../../api/rights";
import { useSession } from "../../api/session";
import { Choice } from "../../ui/Choice";
import { Picker } from "../../ui/Picker";
import { t } from "../../words";
import styles from "./SelectionsPage.module.css";
import { whenOf, whens } from "./when";

type Props = { params: URLSearchParams; onChange: (params: URLSearchParams) => void };

/** Whose selections, and of which time. Players have only their own. */
export function Filters({ params, onChange }: Props) {
  const { identity } = useSession();
  const when = whenOf(params);
  const set = (name: string, value: string) => {
    const next = new URLSearchParams(params);
    if (value) next.set(name, value);
    else next.delete(name);
    if (next.get("when") !== "dates") for (const date of ["since", "until"]) next.delete(date);
    onChange(next);
  };
  const day = (name: "since" | "until") => (
    <label>
      <span>{t(`selections.${name}`)}</span>
      <input type="date" value={params.get(name) ?? ""} onChange={(e) => set(name, e.target.value)} />
    </label>
  );
  return (
    <search className={styles.filters}>
      {isAdmin(identity) && (
        <div className={styles.player}>
          <Picker
            label={t("selections.player")}
            namespaces={["PLY", "PLU", "PLX"]}
            chosen={params.getAll("player").slice(0, 1)}
            most={1}
            onChoose={([hash = ""]) => set("player", hash)}
          />
        </div>
      )}
      <Choice
        label={t("selections.when")}
        value={when}
        options={whens.map((value) => ({ value, word: t(`selections.when.${value}`) }))}
        onChoose={(value) => set("when", value === "always" ? "" : value)}
      />
      {when === "dates" && day("since")}
      {when === "dates" && day("until")}
    </search>
  );
}
