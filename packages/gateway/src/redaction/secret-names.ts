/** Words that make the thing they name secret, alone or at the end of a name: `db_password`, `x-api-key`. */
const secretWords = new RegExp(
  `(?:^|_)(?:${[
    '[a-z0-9]*pass(?:word|wd|phrase|code)',
    'pass',
    'pwd',
    'secret',
    'token',
    '[a-z0-9]*apikey',
    '(?:api|access|private|secret|signing|encryption|master|account|shared|auth|service)_?key',
    'credential',
    'authorization',
    'cookie',
    'bearer',
    'otp',
    'jwt',
    'connection_?string',
    'mnemonic',
    'seed_?phrase',
  ].join('|')})(s?)(?:_|$)`,
);

/** A name that goes on like this is about a secret and does not hold it: `token_count`, `password_file`. */
const aboutSecrets =
  /_(?:count|limits?|types?|names?|length|size|ttl|age|expiry|expires(?:_\w+)?|budget|usage|uri|url|endpoint|file|path|dir|directory|folder|sock|socket|policy|hint|required|enabled|prefix|version)$/;

const mostNames = 2000;
const longestName = 200;
const rememberedLength = 64;

/** `secret`: whatever stands there. `plural`: several of them, or the number of them. */
type Kind = 'secret' | 'plural' | undefined;

const kinds = new Map<string, Kind>();

/** Whether a value with this name is secret. Words count, not letters: `max_tokens` is a number. */
export function isSecretName(name: string, value?: unknown): boolean {
  const kind = kindOf(name);
  return kind === 'secret' || (kind === 'plural' && typeof value !== 'number');
}

/** Names repeat from call to call, so what was found is kept; callers choose names, so not without end. */
function kindOf(name: string): Kind {
  if (name.length > rememberedLength) return readKind(name);
  const known = kinds.get(name);
  if (known !== undefined || kinds.has(name)) return known;
  if (kinds.size >= mostNames) kinds.clear();
  const kind = readKind(name);
  kinds.set(name, kind);
  return kind;
}

function readKind(name: string): Kind {
  const words = name
    .slice(0, longestName)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();
  const found = secretWords.exec(words);
  if (found === null || aboutSecrets.test(words)) return undefined;
  return found[1] === '' ? 'secret' : 'plural';
}

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
