// The words of what the checks of the chain and of the seal find: loaded by whoever shows them, never by the worker.
import "words:chain";

export { say } from "../words";
