import { existsSync } from 'node:fs';
import { isJsonObject } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import type { Project } from './find-project.ts';

export const linterNames = ['oxlint', 'biome', 'eslint', 'ruff', 'flake8', 'tsc'] as const;
export type LinterName = (typeof linterNames)[number];

/** Something that a linter has to say about a line. */
export interface Problem {
  /** `file`, `line`, `column` and `rule`, as far as they are told. */
  readonly [key: string]: string | number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

export interface Linter {
  /** The command, or undefined when the project does not use the linter. */
  readonly find: (project: Project) => readonly [string, ...string[]] | undefined;
  /** Arguments that end its options; files come behind them. Absent: it takes no files. */
  readonly beforeFiles?: readonly string[];
  /** What it looks at without files. */
  readonly everything: readonly string[];
  /** Throws for what is not its output. */
  readonly read: (stdout: string) => readonly Problem[];
}

const eslintFiles = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'].map((ending) => `eslint.config.${ending}`);

/** In the order in which they are looked for. Each runs as the project configured it, and writes nothing. */
export const linters: Readonly<Record<LinterName, Linter>> = {
  oxlint: {
    find: ({ has, findInstalled }) =>
      has('.oxlintrc.json', 'oxlint.config.ts', 'package.json')
        ? command(findInstalled('oxlint'), '--format=json')
        : undefined,
    beforeFiles: ['--'],
    everything: ['.'],
    read: (stdout) => listOf(parse(stdout), 'diagnostics').map(readOxlint),
  },
  biome: {
    find: ({ has, findInstalled }) =>
      has('biome.json', 'biome.jsonc') ? command(findInstalled('biome'), 'lint', '--reporter=github') : undefined,
    beforeFiles: [],
    everything: ['.'],
    read: (stdout) => stdout.split('\n').flatMap(readBiome),
  },
  eslint: {
    find: ({ has, findInstalled }) =>
      has(...eslintFiles) ? command(findInstalled('eslint'), '--format=json', '--no-warn-ignored') : undefined,
    beforeFiles: ['--'],
    everything: ['.'],
    read: (stdout) => asList(parse(stdout)).flatMap(readEslint),
  },
  ruff: {
    find: ({ has, read }) =>
      has('ruff.toml', '.ruff.toml') || read('pyproject.toml').includes('[tool.ruff')
        ? command(findSystem('ruff'), 'check', '--output-format=json', '--no-cache')
        : undefined,
    beforeFiles: ['--'],
    everything: ['.'],
    read: (stdout) => asList(parse(stdout)).map(readRuff),
  },
  flake8: {
    find: ({ has, read }) =>
      has('.flake8') || /^\[flake8\]/m.test(read('setup.cfg') + read('tox.ini'))
        ? command(findSystem('flake8'), '--format=default')
        : undefined,
    beforeFiles: ['--'],
    everything: ['.'],
    read: (stdout) => stdout.split('\n').flatMap(readFlake8),
  },
  tsc: {
    find: ({ has, findInstalled }) =>
      has('tsconfig.json')
        ? command(
            findInstalled('tsc'),
            '--noEmit',
            '--incremental',
            'false',
            '--composite',
            'false',
            '--pretty',
            'false',
          )
        : undefined,
    everything: ['--project', '.'],
    read: (stdout) => stdout.split('\n').flatMap(readTsc),
  },
};

function command(program: string | undefined, ...args: readonly string[]): readonly [string, ...string[]] | undefined {
  return program === undefined ? undefined : [program, ...args];
}

/** Where the sandbox has programs. */
function findSystem(name: string): string | undefined {
  return [`/usr/bin/${name}`, `/bin/${name}`].find((path) => existsSync(path));
}

function parse(stdout: string): Json {
  return JSON.parse(stdout) as Json;
}

function asList(value: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(value)) throw new TypeError('not a list');
  return value.filter(isJsonObject);
}

function listOf(value: Json, key: string): readonly JsonObject[] {
  if (!isJsonObject(value)) throw new TypeError('not an object');
  return asList(value[key]);
}

function problem(
  file: unknown,
  message: unknown,
  severity: Problem['severity'],
  more: Readonly<Record<string, unknown>>,
): Problem {
  const known = Object.entries(more).filter(([key, value]) =>
    key === 'rule' ? typeof value === 'string' && value !== '' : Number.isInteger(value) && (value as number) > 0,
  );
  const details = Object.fromEntries(known) as Record<string, string | number>;
  return { ...(typeof file === 'string' ? { file } : {}), ...details, severity, message: String(message) };
}

function readOxlint(found: JsonObject): Problem {
  const [label] = (Array.isArray(found['labels']) ? found['labels'] : []) as readonly Json[];
  const span = isJsonObject(label) && isJsonObject(label['span']) ? label['span'] : {};
  const severity = found['severity'] === 'error' ? 'error' : 'warning';
  return problem(found['filename'], found['message'], severity, {
    line: span['line'],
    column: span['column'],
    rule: found['code'],
  });
}

function readEslint(file: JsonObject): readonly Problem[] {
  return asList(file['messages']).map((found) => {
    const severity = found['severity'] === 2 ? 'error' : 'warning';
    return problem(file['filePath'], found['message'], severity, {
      line: found['line'],
      column: found['column'],
      rule: found['ruleId'],
    });
  });
}

function readRuff(found: JsonObject): Problem {
  const at = isJsonObject(found['location']) ? found['location'] : {};
  return problem(found['filename'], found['message'], 'error', {
    line: at['row'],
    column: at['column'],
    rule: found['code'],
  });
}

const biomeLine = /^::(error|warning|notice) title=([^,:]*),file=([^,]*),line=(\d+),endLine=\d+,col=(\d+),[^:]*::(.*)$/;

function readBiome(line: string): readonly Problem[] {
  const [, level, rule, file, row, column, message] = biomeLine.exec(line) ?? [];
  if (message === undefined) return [];
  return [
    problem(file, message, level === 'error' ? 'error' : 'warning', {
      line: Number(row),
      column: Number(column),
      rule,
    }),
  ];
}

function readFlake8(line: string): readonly Problem[] {
  const [, file, row, column, rule, message] = /^([^:\n]+):(\d+):(\d+): (\S+) (.*)$/.exec(line) ?? [];
  return message === undefined
    ? []
    : [problem(file, message, 'error', { line: Number(row), column: Number(column), rule })];
}

function readTsc(line: string): readonly Problem[] {
  const [, file, row, column, level, rule, message] =
    /^([^(\n]+)\((\d+),(\d+)\): (error|warning) (TS\d+): (.*)$/.exec(line) ?? [];
  if (message === undefined) return [];
  return [
    problem(file, message, level === 'error' ? 'error' : 'warning', {
      line: Number(row),
      column: Number(column),
      rule,
    }),
  ];
}
