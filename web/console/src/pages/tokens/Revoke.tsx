import { useMutation } from "urql";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { nameOf } from "../../ui/format";
import { T, t } from "../../words";
import { RevokeToken, type TokenRow } from "./query";

type Props = { token: TokenRow; own: boolean; onRevoked: () => void; onClose: () => void };

/** Asks before a token is revoked, and says what ends. */
export function Revoke({ token, own, onRevoked, onClose }: Props) {
  const [, revoke] = useMutation(RevokeToken);
  const onConfirm = async () => {
    const { error } = await revoke({ id: token.id });
    if (!error) onRevoked();
    return error ?? null;
  };
  return (
    <ConfirmDialog
      title={t(`tokens.revoke.title.${token.kind}`, { name: nameOf(token.player) })}
      icon="erased"
      confirm={t("tokens.revoke.confirm")}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {token.note && (
        <p dir="auto">
          <T id="tokens.revoke.for" values={{ note: <b>{token.note}</b> }} />
        </p>
      )}
      <p>
        <T id={own ? "tokens.revoke.ends.own" : "tokens.revoke.ends"} />
      </p>
      <p>
        <T id="tokens.revoke.stays" />
      </p>
      <p>{t("tokens.revoke.final")}</p>
    </ConfirmDialog>
  );
}
