const words = {
  en: {
    fresh: "New chat", again: "Try again", label: "Your message", hint: "Enter sends, Shift and Enter begin a new line.", send: "Send",
    log: "Conversation", user: "You", assistant: "Assistant", waiting: "The assistant is answering…",
    expired: "The last conversation has ended; this is a new one.",
    kept: "Your message was not answered; it is below.",
    timeout: "The assistant took too long. Your message is kept: you can try again.",
    model: "The assistant cannot answer now. Your message is kept: you can try again.",
    server: "The chat's memory cannot be reached now. Nothing is lost: you can try again.",
    away: "The chat does not answer. Nothing is lost: you can try again.",
    refused: "This cannot be kept in the chat: put it in other words.",
    long: "The message is too long for the assistant: make it shorter.",
  },
  es: {
    fresh: "Nuevo chat", again: "Reintentar", label: "Tu mensaje", hint: "Intro envía; Mayús e Intro empiezan otra línea.", send: "Enviar",
    log: "Conversación", user: "Tú", assistant: "Asistente", waiting: "El asistente está respondiendo…",
    expired: "La última conversación ha terminado; esta es nueva.",
    kept: "Tu mensaje no tuvo respuesta; está abajo.",
    timeout: "El asistente ha tardado demasiado. Tu mensaje se conserva: puedes reintentarlo.",
    model: "El asistente no puede responder ahora. Tu mensaje se conserva: puedes reintentarlo.",
    server: "No se puede acceder a la memoria del chat. No se ha perdido nada: puedes reintentarlo.",
    away: "El chat no responde. No se ha perdido nada: puedes reintentarlo.",
    refused: "Esto no se puede guardar en el chat: dilo de otra manera.",
    long: "El mensaje es demasiado largo para el asistente: acórtalo.",
  },
};
const language = navigator.language.startsWith("es") ? "es" : "en";
const say = words[language];
const find = (selector) => document.querySelector(selector);
const [log, box, form, fresh, again, send, state] = ["#log", "#box", "form", "#fresh", "#again", "#foot button", "#state"].map(find);
document.documentElement.lang = language;
for (const e of document.querySelectorAll("[data-say]")) e.textContent = say[e.dataset.say];
log.ariaLabel = say.log;

// What survives a reload, each tab its own: the conversation's id, and a message that is not known to be answered, with an
// id by which it is recorded once however often it is sent.
const kept = {
  get: (name) => JSON.parse(sessionStorage.getItem(name)),
  set: (name, value) => sessionStorage.setItem(name, JSON.stringify(value)),
};
let conversation = kept.get("conversation") ?? "";
let draft = kept.get("draft");

async function call(method, path, body) {
  let response, answer;
  try {
    response = await fetch(path, { method, headers: { "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
    answer = await response.json();
  } catch {
    throw new Error("away");
  }
  if (!response.ok) throw new Error(answer.code);
  return answer;
}

function add(role, text) {
  const p = document.createElement("p");
  p.className = role;
  if (say[role]) p.append(Object.assign(document.createElement("strong"), { textContent: say[role] }));
  p.append(text);
  log.append(p);
  scrollTo(0, document.body.scrollHeight); // the form stands over the end
  return p;
}

function show(view) {
  kept.set("conversation", (conversation = view.conversation));
  for (const m of view.messages) if (!document.getElementById(m.id)) add(m.role, m.text).id = m.id;
}

const begin = async () => show(await call("POST", "api/conversation"));

// One thing at a time: what comes meanwhile, such as a second click, is left out.
let busy = false;
async function work(task, waiting = "") {
  if (busy) return;
  busy = fresh.disabled = again.disabled = send.disabled = box.readOnly = log.ariaBusy = true;
  tell(waiting);
  try {
    tell((await task()) ?? "");
  } catch (e) {
    tell(say[e.message] ?? say.away, true);
  }
  busy = fresh.disabled = again.disabled = send.disabled = box.readOnly = log.ariaBusy = false;
  box.focus();
}

function tell(text, wrong = false) {
  state.className = wrong ? "wrong" : "";
  find("#state p").textContent = text;
  again.hidden = !wrong;
}

function submit() {
  const text = box.value.trim();
  if (text === "" || busy) return;
  if (draft?.text !== text) draft = { id: crypto.randomUUID(), text };
  work(async () => {
    kept.set("draft", { ...draft, sent: true });
    const mine = add("user", text);
    box.value = "";
    const ask = () => call("POST", "api/message", { conversation, id: draft.id, text });
    try {
      if (conversation === "") await begin();
      const answer = await ask().catch(async (e) => {
        if (e.message !== "expired") throw e;
        await begin();
        mine.before(add("note", say.expired));
        return ask();
      });
      mine.remove();
      kept.set("draft", (draft = null));
      show(answer);
    } catch (e) {
      mine.remove();
      kept.set("draft", draft);
      box.value = text;
      throw e;
    }
  }, say.waiting);
}

const load = () =>
  work(async () => {
    const before = conversation;
    show(await call("GET", `api/conversation?id=${encodeURIComponent(conversation)}`));
    if (before !== "" && conversation === "") add("note", say.expired);
    if (!draft) return "";
    box.value = draft.text;
    return say.kept;
  });

form.addEventListener("submit", (e) => {
  e.preventDefault();
  submit();
});
box.addEventListener("keydown", (e) => {
  if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
  e.preventDefault();
  submit();
});
again.addEventListener("click", () => (box.value.trim() ? submit() : load()));
fresh.addEventListener("click", () => work(async () => (await begin(), log.replaceChildren())));
await load();
if (draft?.sent) submit(); // it was under way when the page was left
