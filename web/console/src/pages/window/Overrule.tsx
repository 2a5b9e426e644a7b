import { useState } from "react";
import { useMutation } from "urql";
import { Button } from "../../ui/Button";
import { ReasonDialog } from "../../ui/ReasonDialog";
import { t } from "../../words";
import type { Overruling } from "./judged";
import { OverruleJudgement } from "./query";
import { Text } from "./Text";

type Props = { operation: string; of: Overruling; onDone: () => void };

/** Offers to overrule what judges said, with a reason, and says what comes of it. */
export function Overrule({ operation, of: { enters, returns, shared, believed }, onDone }: Props) {
  const [open, setOpen] = useState(false);
  const [, overrule] = useMutation(OverruleJudgement);
  const onConfirm = async (reason: string) => {
    const { error } = await overrule({ operation, reason });
    if (!error) onDone();
    return error ?? null;
  };
  return (
    <div>
      <Button icon="verified" onClick={() => setOpen(true)}>
        {t("windows.overrule")}
      </Button>
      {open && (
        <ReasonDialog
          title={t("windows.overrule.title")}
          icon="verified"
          confirm={t("windows.overrule.confirm")}
          onConfirm={onConfirm}
          onClose={() => setOpen(false)}
        >
          {enters !== null && (
            <>
              <p>{t("windows.overrule.enters")}</p>
              <Text of={enters} />
            </>
          )}
          {returns.length > 0 && <p>{t("windows.overrule.returns", { n: returns.length })}</p>}
          {returns.map((i) => (
            <Text key={i.id} of={i.content} />
          ))}
          {shared && <p>{t("windows.overrule.shared")}</p>}
          {!believed && <p>{t("windows.overrule.again")}</p>}
          <p>{t("windows.overrule.record")}</p>
        </ReasonDialog>
      )}
    </div>
  );
}
