import { Component, type ReactNode } from "react";
import { Button } from "../ui/Button";
import { Screen } from "../ui/Screen";
import { t } from "../words";

type State = { failed: Error | null };

/** Says that a page failed, where an error would otherwise leave nothing on the screen. */
export class Guard extends Component<{ children: ReactNode }, State> {
  override state: State = { failed: null };

  static getDerivedStateFromError(failed: Error): State {
    return { failed };
  }

  override render(): ReactNode {
    const { failed } = this.state;
    if (!failed) return this.props.children;
    const again = (
      <Button icon="retry" onClick={() => window.location.reload()}>
        {t("app.failed.again")}
      </Button>
    );
    return (
      <Screen icon="error" tone="bad" title={t("app.failed")} action={again}>
        <p>{t("app.failed.detail", { message: failed.message })}</p>
      </Screen>
    );
  }
}
