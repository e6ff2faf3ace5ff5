import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../../test/requirement.ts';
import { Redactor } from '../../redaction/redact.ts';
import { endsWith, TestWorkspace } from '../files/test-workspace.ts';
import { readLevel } from './log-level.ts';
import { logsSearch } from './logs-search.ts';
import { codeDefinition, codeDocumentation } from './symbol-tools.ts';

const typescript = `// load is not declared here
import { load } from './other.ts';
/** How many. */
export const limit = 5;

/**
 * Loads things.
 * @param path where from
 */
export async function load(path: string, { deep = false } = {}): Promise<string[]> {
  const text = 'function load() {}';
  return [path + text + deep];
}

// A place
// for things.
@sealed()
export class Store<T> extends Base {
  /** Finds one. */
  private find(id: number): T | undefined { return undefined; }
  readonly load = (id: number) => id;
}
interface Shape { /** The area. */ area(): number }
export type Id = string | number;
`;
const python = `"""A module."""
LIMIT = 5

def load(path: str, *, deep=False) -> list[str]:
    """Loads things.

    In two lines.
    """
    text = "def load(): pass"
    return [path]

class Store(Base):
    """Keeps things."""
    size: int = 0
    async def load(self, id):
        return id
`;

function openProject(): TestWorkspace {
  const workspace = new TestWorkspace();
  workspace.put('src/a.ts', typescript);
  workspace.put('src/b.py', python);
  workspace.put('src/c.tsx', 'export const View = () => <load>text</load>;\n');
  workspace.put('src/broken.ts', 'export function load( { { {\nclass load {}\n');
  workspace.put('node_modules/p/index.js', 'function load() {}\n');
  workspace.put('forbidden.ts', 'export function load() {}\n');
  workspace.put('notes.md', 'function load() {}\n');
  return workspace;
}

async function define(workspace: TestWorkspace, args: JsonObject): Promise<readonly JsonObject[]> {
  return (await workspace.call(codeDefinition(), args))['definitions'] as readonly JsonObject[];
}

test('a name is found where it is declared, and not where it is only written', async () => {
  requirement('CAT-6');
  using workspace = openProject();
  const answer = await workspace.call(codeDefinition(), { symbol: 'load' });
  const found = answer['definitions'] as readonly JsonObject[];
  const told = found
    .filter(({ path }) => path !== 'src/broken.ts')
    .map(({ path, line, end_line: end, kind, container }) => [path, line, end, kind, container]);
  assert.deepEqual(told, [
    ['src/a.ts', 10, 13, 'function', undefined],
    ['src/a.ts', 21, 21, 'property', 'Store'],
    ['src/b.py', 4, 10, 'function', undefined],
    ['src/b.py', 15, 16, 'method', 'Store'],
  ]);
  assert.deepEqual([answer['omitted'], answer['truncated']], [1, false]);
  assert.equal(found[0]?.['signature'], 'async function load(path: string, { deep = false } = {}): Promise<string[]>');
  const [method, ...others] = await define(workspace, { symbol: 'Store.find' });
  assert.deepEqual(
    [method?.['kind'], method?.['signature'], others],
    ['method', 'private find(id: number): T | undefined', []],
  );
  const kinds = [];
  for (const symbol of ['limit', 'Id', 'Shape', 'Store', 'LIMIT', 'View'])
    kinds.push((await define(workspace, { symbol }))[0]?.['kind']);
  assert.deepEqual(kinds, ['variable', 'type', 'interface', 'class', 'variable', 'function']);
  assert.equal((await define(workspace, { symbol: 'load', path: 'src/b.py' })).length, 2);
  assert.equal((await define(workspace, { symbol: 'load', path: 'node_modules' })).length, 1);
  assert.deepEqual(await define(workspace, { symbol: 'nowhere' }), []);
});

test('documentation is the comment above a declaration, or its docstring', async () => {
  requirement('CAT-6');
  using workspace = openProject();
  const read = async (symbol: string) => {
    const { documentation } = (await workspace.call(codeDocumentation(), { symbol })) as {
      documentation: JsonObject[];
    };
    return documentation.filter(({ text }) => text !== undefined).map(({ text }) => text);
  };
  assert.deepEqual(await read('load'), ['Loads things.\n@param path where from', 'Loads things.\n\nIn two lines.']);
  assert.deepEqual(await read('Store'), ['A place\nfor things.', 'Keeps things.']);
  assert.deepEqual(await read('find'), ['Finds one.']);
  assert.deepEqual(await read('limit'), ['How many.']);
  assert.deepEqual(await read('area'), ['The area.']);
  assert.deepEqual(await read('Id'), []);
});

test('the rules decide about the folder, and a file that is not there is told', async () => {
  using workspace = openProject();
  await assert.rejects(define(workspace, { symbol: 'load', path: workspace.outside }), endsWith('NO_RULE_ALLOWS'));
  await assert.rejects(define(workspace, { symbol: 'load', path: 'forbidden.ts' }), endsWith('NO_RULE_ALLOWS'));
  await assert.rejects(define(workspace, { symbol: 'load', path: 'none.ts' }), endsWith('NOT_FOUND'));
  const controller = new AbortController();
  controller.abort(new Error('stop'));
  await assert.rejects(workspace.call(codeDefinition(), { symbol: 'load' }, { signal: controller.signal }));
});

test('log files are searched by text and level, without secrets', async () => {
  requirement('CAT-6');
  using workspace = new TestWorkspace();
  workspace.put('logs/app.log', '2026-01-01 INFO started\n2026-01-01 ERROR no opensesame-42\n[warn] slow\nplain\n');
  workspace.put('logs/api.jsonl', '{"level":50,"msg":"Boom"}\n{"level":"info","msg":"fine"}\n');
  workspace.put('logs/forbidden.log', 'ERROR no\n');
  workspace.put('notes.md', 'ERROR no\n');
  const { redactText } = new Redactor(['opensesame-42']);
  const find = (args: JsonObject) => workspace.call(logsSearch(), args, { redact: redactText });
  const serious = await find({ level: 'warning' });
  assert.deepEqual(serious, {
    lines: [
      { path: 'logs/api.jsonl', level: 'error', text: '{"level":50,"msg":"Boom"}' },
      { path: 'logs/app.log', level: 'error', text: '2026-01-01 ERROR no [redacted]' },
      { path: 'logs/app.log', level: 'warning', text: '[warn] slow' },
    ],
    ...{ files: 2, omitted: 1, truncated: false },
  });
  assert.equal(((await find({ query: 'boom' }))['lines'] as unknown[]).length, 1);
  assert.deepEqual((await find({ query: 'opensesame' }))['lines'], []);
  const last = await find({ files: 'logs/app.*', max_results: 1 });
  assert.deepEqual([last['lines'], last['truncated']], [[{ path: 'logs/app.log', text: 'plain' }], true]);
  await assert.rejects(find({ query: '(', regex: true }), endsWith('INVALID_ARGUMENTS'));
});

test('levels are read where logs usually have them', () => {
  const read = ['10:00 [error] x', 'WARN x', '{"severity":"CRITICAL"}', '{"level":20}', 'an error in prose', 'x'].map(
    readLevel,
  );
  assert.deepEqual(read, ['error', 'warning', 'fatal', 'debug', undefined, undefined]);
});
