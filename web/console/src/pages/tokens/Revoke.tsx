import { useMutation } from "urql";
import { ConfirmDialog } from "../../ui/ConfirmDialog";
import { nameOf } from "../../ui/format";
import { kinds } from "./draft";
import { RevokeToken, type TokenRow } from "./query";

type Props = { token: TokenRow; own: boolean; onRevoked: () => void; onClose: () => void };

/** Asks before a token is revoked, and says what ends. */
export function Revoke({ token: t, own, onRevoked, onClose }: Props) {
  const [, revoke] = useMutation(RevokeToken);
  const onConfirm = async () => {
    const { error } = await revoke({ id: t.id });
    if (!error) onRevoked();
    return error ?? null;
  };
  return (
    <ConfirmDialog
      title={`Revoke the ${kinds[t.kind].word.toLowerCase()}’s token of ${nameOf(t.player)}?`}
      icon="erased"
      confirm="Revoke for good"
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {t.note && (
        <p dir="auto">
          It is for: <b>{t.note}</b>
        </p>
      )}
      <p>
        <b>What ends, within 5 seconds:</b> every request with it is refused, on every server of the database. Open
        streams and WebSockets are closed. Sessions of this console that were opened with it end
        {own && <b>, yours too: it is the token that you signed in with</b>}.
      </p>
      <p>
        <b>What stays:</b> what was appended with it, tokens that were made with it, and the player’s other tokens.
        Revoke those, too, if need be.
      </p>
      <p>It cannot be taken back; make another one instead.</p>
    </ConfirmDialog>
  );
}
