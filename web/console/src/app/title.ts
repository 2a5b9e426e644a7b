import { useEffect } from "react";
import { t } from "../words";

/** Names the page in the browser's tab and history. */
export function useTitle(title: string): void {
  const named = t("app.title", { page: title });
  useEffect(() => {
    document.title = named;
  }, [named]);
}
