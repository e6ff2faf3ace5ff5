import { GateError } from '@sallyport/contract/client';
import { daemon } from './connect.ts';
import { currentCredential, keepCredential } from './credential.ts';
import type { Credential } from './credential.ts';

/**
 * The code of the link in the address bar, if there is one. It is taken out of the address at once, so that it is
 * neither in the history nor on a screenshot.
 */
export function takeCode(): string | undefined {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code !== undefined) history.replaceState(null, '', '/');
  return code;
}

/** Exchanges the code for a session. Returns why it did not work. */
export async function logIn(code: string): Promise<string | undefined> {
  const before = currentCredential();
  try {
    const credential = await daemon.post<Credential>('/console/login', { code });
    if (before !== undefined) await endSession();
    keepCredential(credential);
    return undefined;
  } catch (error) {
    // Who is logged in already stays so.
    keepCredential(before);
    return error instanceof GateError ? error.message : 'The login failed.';
  }
}

export async function logOut(): Promise<void> {
  await endSession();
  keepCredential(undefined);
}

/** A daemon that cannot be reached ends the session by its expiry. */
async function endSession(): Promise<void> {
  await daemon.post('/console/logout', {}).catch(() => undefined);
}
