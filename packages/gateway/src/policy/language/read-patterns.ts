import { compileCommandPattern } from '../patterns/command-pattern.ts';
import { parsePathPattern, PathPatternError } from '../patterns/path-pattern.ts';
import { readHost } from './read-grants.ts';
import { WordsError } from '../patterns/shell-words.ts';
import type { YamlReader } from '../../text/yaml-reader.ts';
import type { YamlNode } from '../../text/yaml-node.ts';

const toolPattern = /^[A-Za-z0-9_*][A-Za-z0-9_.*-]*$/;

export function readToolPattern(node: YamlNode, reader: YamlReader): string | undefined {
  const pattern = reader.readString(node, 'tools', 200);
  if (pattern === undefined || toolPattern.test(pattern)) return pattern;
  return reader.note(node, 'a tool is named like files.read, with "*" for any text in it');
}

export function readPathPattern(node: YamlNode, key: string, reader: YamlReader): string | undefined {
  const pattern = reader.readString(node, key, Infinity);
  if (pattern === undefined) return undefined;
  try {
    parsePathPattern(pattern);
    return pattern;
  } catch (error) {
    if (!(error instanceof PathPatternError)) throw error;
    return reader.note(node, `this pattern ${error.message}`);
  }
}

export function readCommandPattern(node: YamlNode, reader: YamlReader): string | undefined {
  const pattern = reader.readString(node, 'commands', Infinity);
  if (pattern === undefined) return undefined;
  try {
    compileCommandPattern(pattern);
    return pattern;
  } catch (error) {
    if (!(error instanceof WordsError)) throw error;
    return reader.note(node, `this pattern ${error.message}`);
  }
}

export function readHostPattern(node: YamlNode, reader: YamlReader): string | undefined {
  return reader.textOf(node) === '*' ? '*' : readHost(node, 'hosts', reader);
}

export function readGitOperation(node: YamlNode, reader: YamlReader): string | undefined {
  const name = reader.readString(node, 'git_operations', 64);
  if (name === undefined || /^[A-Za-z_*-]+$/.test(name)) return name;
  return reader.note(node, 'a git operation is named like DIFF or PUSH, with "*" for any text in it');
}
