import { isSecretName } from './secret-names.ts';

/** A name and its value, as files of settings, JSON, YAML and connection strings have them. */
const member =
  /(?<![\w.-])(?<name>[A-Za-z][\w.-]{1,60})["']?[ \t]{0,8}[:=][ \t]{0,8}(?:"(?<quoted>[^"\n]*)"|'(?<single>[^'\n]*)'|(?<plain>[^\s"',;&]+))/g;

/** What a secret holds under a telling name: the password in a file of settings is a secret of its own. */
export function findSecretsWithin(secret: string): string[] {
  return [...secret.matchAll(member)].flatMap(({ groups }) => {
    const { name = '', quoted, single, plain }: Partial<Record<string, string>> = groups ?? {};
    return isSecretName(name) ? [quoted ?? single ?? plain ?? ''] : [];
  });
}
