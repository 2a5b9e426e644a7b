import { useAddress } from "../../ui/useAddress";

/** What is done to a window by hand, in a form beside it; the address says which is open. */
export const forms = ["write", "select", "share", "register"] as const;

export type FormName = (typeof forms)[number];

const none = { write: null, select: null, share: null, register: null };

/** Which form is open, what the address says of it, and how one is opened; null closes it. */
export function useForms() {
  const [params, set] = useAddress();
  const open = forms.find((f) => params.has(f)) ?? null;
  return {
    open,
    about: (open && params.get(open)) ?? "",
    show: (form: FormName | null, about = "", more: Readonly<Record<string, string | null>> = {}) =>
      set({ ...none, ...(form && { [form]: about }), ...more }),
  };
}
