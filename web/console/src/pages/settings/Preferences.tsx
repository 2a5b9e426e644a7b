import { SingleKeys } from "../../actions/SingleKeys";
import { LanguageSwitch } from "../../app/LanguageSwitch";
import { ThemeSwitch } from "../../app/ThemeSwitch";
import { Button } from "../../ui/Button";
import { t } from "../../words";
import styles from "./SettingsPage.module.css";

/** What is kept in this browser alone. */
export function Preferences() {
  return (
    <section className={styles.section} aria-labelledby="browser">
      <h2 id="browser">{t("settings.browser")}</h2>
      <p className={styles.note}>{t("settings.browser.note")}</p>
      <div className={styles.preferences}>
        <div>
          <h3>{t("app.language")}</h3>
          <LanguageSwitch group="settings" />
        </div>
        <div>
          <h3>{t("app.theme")}</h3>
          <ThemeSwitch group="settings" />
        </div>
        <SingleKeys />
        <Button icon="tool" action="help.open" />
      </div>
    </section>
  );
}
