import type { SecretStore } from '../../secrets/secret-store.ts';
import { parseLogin, secretsOf } from '../../upstreams/login/stored-login.ts';
import type { LoginStore, StoredLogin } from '../../upstreams/login/stored-login.ts';

/** No rule can name it: names of secrets that a tool may be granted contain no colon. */
const prefix = 'upstream-login:';
const nameOf = (upstream: string): string => `${prefix}${upstream}`;

/**
 * The parts of a stored secret that nobody may see, if it is a login. Undefined: it is not a login, and all of it is secret. Of a
 * login the rest is public, and somebody outside chose it: to hide it would hide what they wrote from people.
 */
export function secretsOfLogin(name: string | undefined, value: string): readonly string[] | undefined {
  const login = name?.startsWith(prefix) === true ? parseLogin(value) : undefined;
  return login && secretsOf(login);
}

/** Keeps logins among the secrets, encrypted. Every part of them is known to redaction before it is used. */
export function openLoginStore(
  secrets: Pick<SecretStore, 'list' | 'secretsFor' | 'set' | 'remove'>,
  learn: (secret: string) => void,
): LoginStore {
  const learnAll = (login: StoredLogin): void => secretsOf(login).forEach(learn);
  return {
    read: (upstream) => {
      const name = nameOf(upstream);
      if (!secrets.list().some((secret) => secret.name === name && secret.isReadable)) return undefined;
      const grant = { name, tools: ['*'], hosts: [] };
      const login = parseLogin(secrets.secretsFor([grant], { tool: 'upstream' }).get(name) ?? '');
      if (login !== undefined) learnAll(login);
      return login;
    },
    save: async (upstream, login) => {
      learnAll(login);
      await secrets.set(nameOf(upstream), JSON.stringify(login));
    },
    remove: async (upstream) => {
      await secrets.remove(nameOf(upstream));
    },
  };
}
