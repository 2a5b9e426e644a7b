/**
 * Requests that wait because the server no longer knows who asks, until somebody has signed in again: so that a page
 * outlives the session that it was opened in.
 */
export class Comeback {
  /** Hears why the server refused, in its words; empty if it said nothing. */
  onEnded: (reason: string) => void = () => {};
  private readonly waiting = new Set<() => void>();

  /** Tells that the session has ended, and resolves once somebody is back. Rejects if the signal aborts first. */
  wait(reason: string, signal?: AbortSignal | null): Promise<void> {
    const promise = new Promise<void>((resolve, reject) => {
      const go = () => {
        this.waiting.delete(go);
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.waiting.delete(go);
        reject(signal?.reason);
      };
      this.waiting.add(go);
      signal?.addEventListener("abort", leave, { once: true });
    });
    this.onEnded(reason);
    return promise;
  }

  /** Tells that the session has ended, where nothing can wait. */
  ended(reason: string): void {
    this.onEnded(reason);
  }

  /** Lets go on whatever waits. */
  back(): void {
    for (const go of [...this.waiting]) go();
  }

  /**
   * fetch, but a request that is refused with 401 waits and is sent once more: refused, it did nothing. What is refused
   * again is given as it is.
   */
  readonly fetch: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (response.status !== 401) return response;
    await this.wait(await reasonOf(response), init?.signal);
    return await fetch(input, init);
  };
}

async function reasonOf(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { errors?: { message?: string }[] };
    return body.errors?.[0]?.message ?? "";
  } catch {
    return "";
  }
}
