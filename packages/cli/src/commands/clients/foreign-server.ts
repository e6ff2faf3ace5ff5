import { Redactor, isSecretName } from '@sallyport/gateway';

/** An MCP server as a client has it in its settings, in our words. */
export type ForeignServer =
  | {
      readonly kind: 'command';
      readonly command: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'url'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** It cannot become an upstream; the message says why, as the end of a sentence. */
export class CannotImport extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;
type Fields = Readonly<Record<string, unknown>>;

/** Whatever form the client has for it. References to variables are followed. Throws CannotImport. */
export function readForeignServer(given: unknown, environment: Environment): ForeignServer {
  if (!isFields(given)) throw new CannotImport('it is no object');
  if (given['disabled'] === true || given['enabled'] === false) throw new CannotImport('it is switched off');
  if (given['type'] === 'sse' || given['type'] === 'ws')
    throw new CannotImport(`it speaks ${given['type']}, which the gate does not`);
  if (given['cwd'] !== undefined) throw new CannotImport('it starts in a folder of its own');
  const fill = (text: string): string => fillIn(text, environment);
  const url = [given['url'], given['serverUrl'], given['httpUrl']].find((each) => typeof each === 'string');
  if (typeof url === 'string') return { kind: 'url', url: fill(url), headers: readHeaders(given, environment, fill) };
  const { command } = given;
  const program = isFields(command) ? { command: command['path'], args: command['args'], env: command['env'] } : given;
  const words = Array.isArray(program.command) ? program.command : [program.command, ...listOf(program['args'])];
  if (!words.every((word) => typeof word === 'string') || words.length === 0 || words[0] === '') {
    throw new CannotImport('it names neither a command nor an address');
  }
  const variables = textsOf(program['env'] ?? given['environment'], fill);
  return { kind: 'command', command: words.map((word) => fill(word)), environment: variables };
}

function readHeaders(given: Fields, environment: Environment, fill: (text: string) => string) {
  const bearer = given['bearer_token_env_var'];
  const named = Object.entries(textsOf(given['env_http_headers'], String)).map(
    ([header, variable]) => [header, valueOf(variable, environment)] as const,
  );
  return {
    ...textsOf(given['headers'] ?? given['http_headers'], fill),
    ...Object.fromEntries(named),
    ...(typeof bearer === 'string' ? { Authorization: `Bearer ${valueOf(bearer, environment)}` } : {}),
  };
}

function textsOf(map: unknown, fill: (text: string) => string): Readonly<Record<string, string>> {
  if (map === undefined || map === null) return {};
  if (!isFields(map)) throw new CannotImport('its variables or headers are not an object');
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => {
      if (typeof value !== 'string') throw new CannotImport(`${name} is no text`);
      return [name, fill(value)];
    }),
  );
}

/** `${NAME}`, `${env:NAME}`, `${NAME:-default}`, `{env:NAME}` and `$NAME`, as the clients write them. */
const reference = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}|\{env:([A-Za-z_]\w*)\}|^\$([A-Za-z_]\w*)$/g;

function fillIn(text: string, environment: Environment): string {
  if (/\$\{(?:input|command|workspaceFolder)/.test(text))
    throw new CannotImport(`it asks the client for ${text.slice(0, 60)}`);
  return text.replace(reference, (_, braced?: string, fallback?: string, inBraces?: string, bare?: string) =>
    valueOf(braced ?? inBraces ?? bare ?? '', environment, fallback),
  );
}

function valueOf(variable: string, environment: Environment, fallback?: string): string {
  const value = environment[variable] || fallback;
  if (value === undefined) throw new CannotImport(`it needs the variable ${variable}, which is not set here`);
  return value;
}

const redactor = new Redactor();

/** Whether it must not stand in a file: by its name, or because it has the shape of a credential. */
export function isSecret(name: string, value: string): boolean {
  return (
    value !== '' && (isSecretName(name, value) || /(?:^|_)KEY$/i.test(name) || redactor.redactText(value) !== value)
  );
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new CannotImport('its arguments are not a list');
  return value;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
