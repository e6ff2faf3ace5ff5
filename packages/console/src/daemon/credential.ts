/** What the browser keeps of a login. */
export interface Credential {
  readonly token: string;
  readonly person: string;
  readonly sessionId: string;
  readonly expiresAtMs: number;
}

const key = 'sallyport.credential';
const listeners = new Set<() => void>();
let current = read();

// Another tab logged in or out.
addEventListener('storage', (event) => {
  if (event.key !== key && event.key !== null) return;
  current = read();
  for (const listener of listeners) listener();
});

/** Undefined when nobody is logged in. The same object until that changes. */
export function currentCredential(): Credential | undefined {
  return current;
}

/** Undefined forgets it. */
export function keepCredential(credential: Credential | undefined): void {
  if (credential === undefined) localStorage.removeItem(key);
  else localStorage.setItem(key, JSON.stringify(credential));
  current = credential;
  for (const listener of listeners) listener();
}

export function onCredential(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function read(): Credential | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? 'null') as Credential | null;
    return kept !== null && kept.expiresAtMs > Date.now() ? kept : undefined;
  } catch {
    return undefined;
  }
}
