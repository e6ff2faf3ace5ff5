import type { YamlNode } from '../../text/yaml-node.ts';
import type { YamlReader } from '../../text/yaml-reader.ts';
import { parseHostPattern } from '@sallyport/sandbox';

export const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;

export function readHost(node: YamlNode, reader: YamlReader): string | undefined {
  const host = reader.readString(node, 'a host');
  const problem = host === undefined ? undefined : explainHost(host);
  return problem === undefined ? host : reader.note(node, problem);
}

export function readVariable(node: YamlNode, what: string, reader: YamlReader): string | undefined {
  const name = reader.readString(node, what);
  if (name === undefined || variableName.test(name)) return name;
  return reader.note(node, `${what} must be the name of a stored secret: letters, digits and "_"`);
}

/** Undefined: it can be reached. */
export function explainHost(text: string): string | undefined {
  try {
    parseHostPattern(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'this is no host';
  }
}

export function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '127.0.0.1' || host === '[::1]';
}
