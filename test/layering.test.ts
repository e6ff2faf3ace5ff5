import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { requirement } from './requirement.ts';

/** Imports point from later lines to earlier ones, or stay on their line without going in circles. */
const layers: readonly (readonly string[])[] = [
  ['call', 'text'],
  [
    // The contracts stand apart from the adapters: the log is written against the first and used by the second.
    ['policy', 'storage', 'storage/sqlite', 'paths', 'redaction', 'audit', 'telemetry'],
    [
      'anomalies',
      'approvals',
      'calls',
      'sessions',
      'organisation',
      'modes',
      'secrets',
      'content',
      'artifacts',
      'console',
      'workspaces',
      'undo',
      'erasure',
    ],
    ['registry', 'programs', 'upstreams', 'execution'],
  ].flat(),
  ['*/tools', 'pipelines', 'catalogue', 'clients', 'stages', 'closers'],
  ['gateway.ts'],
  ['doors'],
  ['*/service', 'doors/messages'],
  ['daemon'],
  ['index.ts'],
];

/** A noun has its rules of life, its operator tools and its RPC service in one folder; these two stand above the rest. */
const parts: readonly (readonly [part: string, place: RegExp])[] = [
  ['*/tools', /^[a-z]+\/tools(?:\.ts|\/)|^policy\/replay\//],
  ['*/service', /^[a-z]+\/(?:[a-z]+-)?service(?:-messages)?\.ts$/],
];

/** Doors map from the Answer: which stages a call has passed, and with which facts, they cannot know. */
const wayOfCalls = /^(?:stages|closers|pipelines|catalogue|daemon)\/|^gateway\.ts$|^call\/stage(?:-line)?\.ts$/;

const root = join(import.meta.dirname, '..');
const gatewayFolder = 'packages/gateway/src/';

/** Packages that others may import, and nothing of ours that they import themselves. */
const shared = ['contract', 'log', 'sandbox'];
const sharedNames = new Set(
  shared.flatMap((name) => {
    const text = readFileSync(join(root, 'packages', name, 'package.json'), 'utf8');
    const { exports } = JSON.parse(text) as { exports: Record<string, unknown> };
    return Object.keys(exports).map((entry) => `@sallyport/${name}${entry.slice(1)}`);
  }),
);

interface Import {
  readonly from: string;
  readonly specifier: string;
}

function readImports(pattern: string): Import[] {
  const exclude = (name: string): boolean => name.includes('node_modules') || /\.test(?:-kit)?\.ts$/.test(name);
  return globSync(pattern, { cwd: root, exclude })
    .sort()
    .flatMap((from) =>
      findSpecifiers(readFileSync(join(root, from), 'utf8')).map((specifier) => ({ from, specifier })),
    );
}

/** Static, re-exporting, dynamic and side-effect imports, and files handed to workers. */
function findSpecifiers(source: string): string[] {
  const patterns = [
    /^\s*(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]/gm,
    /^\s*import\s*['"]([^'"]+)['"]/gm,
    /\bimport\(\s*['"]([^'"]+)['"]/g,
    /\bnew URL\(\s*['"](\.[^'"]+)['"],\s*import\.meta\.url/g,
  ];
  return patterns.flatMap((pattern) => [...source.matchAll(pattern)].map((match) => match[1] ?? ''));
}

/** The folder, or part of a noun, that a file of the gateway belongs to. */
function unitOf(path: string): string | undefined {
  const inside = path.slice(gatewayFolder.length);
  const [part] = parts.find(([, place]) => place.test(inside)) ?? [];
  if (part !== undefined) return part.replace('*', inside.split('/', 1)[0] ?? '');
  const units = layers.flat().filter((unit) => inside === unit || inside.startsWith(`${unit}/`));
  return units.toSorted((a, b) => b.length - a.length)[0];
}

function levelOf(unit: string): number {
  const name = unit.endsWith('/tools') || unit.endsWith('/service') ? unit.replace(/^[a-z]+/, '*') : unit;
  return layers.findIndex((layer) => layer.includes(name));
}

function targetOf({ from, specifier }: Import): string | undefined {
  return specifier.startsWith('.') ? normalize(join(from, '..', specifier)) : undefined;
}

function findMisplaced(imports: readonly Import[]): string[] {
  const problems = new Set<string>();
  for (const each of imports) {
    const target = targetOf(each);
    if (!target?.startsWith(gatewayFolder)) continue;
    const [unit, targetUnit] = [unitOf(each.from), unitOf(target)];
    if (unit === undefined) problems.add(`${each.from} has no place in the table of layers`);
    else if (targetUnit === undefined) problems.add(`${target} has no place in the table of layers`);
    else if (levelOf(targetUnit) > levelOf(unit)) problems.add(`${each.from} imports ${target}, which stands above it`);
  }
  return [...problems];
}

function findCurious(imports: readonly Import[]): string[] {
  const insideOf = (path = ''): string => (path.startsWith(gatewayFolder) ? path.slice(gatewayFolder.length) : '');
  return imports
    .filter(({ from }) => /^doors\/|^[a-z]+\/(?:[a-z]+-)?service\.ts$/.test(insideOf(from)))
    .filter((each) => wayOfCalls.test(insideOf(targetOf(each))))
    .map(({ from, specifier }) => `${from} imports ${specifier}, which is not for doors`);
}

/** Chains of folders of one layer that lead back to where they started. */
function findCircles(imports: readonly Import[]): string[] {
  const edges = new Map<string, Set<string>>();
  for (const each of imports) {
    const [unit, target] = [unitOf(each.from), unitOf(targetOf(each) ?? '')];
    if (unit === undefined || target === undefined || unit === target || levelOf(unit) !== levelOf(target)) continue;
    edges.set(unit, (edges.get(unit) ?? new Set()).add(target));
  }
  const circles: string[] = [];
  const walk = (trail: readonly string[]): void => {
    for (const next of edges.get(trail.at(-1) ?? '') ?? []) {
      if (next === trail[0]) circles.push([...trail, next].join(' → '));
      // Every circle is found once: from its first folder in alphabetical order.
      else if (!trail.includes(next) && next > (trail[0] ?? '')) walk([...trail, next]);
    }
  };
  for (const unit of edges.keys()) walk([unit]);
  return circles;
}

/** Inside a package imports are relative; between packages they use a name that the other package exports. */
function findBorderCrossings(imports: readonly Import[]): string[] {
  return imports.flatMap((each) => {
    const home = each.from.split('/', 2).join('/');
    const target = targetOf(each);
    const isOurs = /^(?:sallyport|@sallyport\/[^/]+)(?:\/|$)/.test(each.specifier);
    if (target !== undefined && !target.startsWith(`${home}/`))
      return [`${each.from} reaches out of ${home}: ${target}`];
    const standsAlone = shared.some((name) => home === `packages/${name}`);
    if (isOurs && standsAlone) return [`${each.from} imports ${each.specifier}, but ${home} stands alone`];
    // What the daemon lays out for tools, it takes from where it is written.
    const isRuntime = each.specifier === '@sallyport/sdk/build' && home === 'packages/gateway';
    // The command line brings the daemon.
    const isDaemon = each.specifier === '@sallyport/gateway' && home === 'packages/cli';
    if (isOurs && !isRuntime && !isDaemon && !sharedNames.has(each.specifier))
      return [`${each.from} imports ${each.specifier}, which no shared package exports`];
    return [];
  });
}

test('imports of the gateway point one way', () => {
  requirement('NFR-5');
  const imports = readImports(`${gatewayFolder}**/*.ts`);
  assert.ok(imports.length > 50, 'hardly any import was found, so the search must be broken');
  assert.deepEqual(findMisplaced(imports), []);
});

test('doors do not know what a call goes through', () => {
  assert.deepEqual(findCurious(readImports(`${gatewayFolder}**/*.ts`)), []);
  const from = `${gatewayFolder}doors/http/a.ts`;
  for (const inside of ['stages/b.ts', 'closers/b.ts', 'gateway.ts', 'call/stage.ts']) {
    assert.match(findCurious([{ from, specifier: `../../${inside}` }]).join(), /not for doors/, inside);
  }
  assert.deepEqual(findCurious([{ from, specifier: '../../call/answer.ts' }]), []);
});

test('folders of one layer do not import each other in circles', () => {
  assert.deepEqual(findCircles(readImports(`${gatewayFolder}**/*.ts`)), []);
});

test('only the daemon and the public entry know which store there is', () => {
  const isAdapter = (each: Import): boolean => targetOf(each)?.startsWith(`${gatewayFolder}storage/sqlite/`) === true;
  const knowing = readImports(`${gatewayFolder}**/*.ts`).filter(isAdapter);
  const allowed = /^(?:storage\/sqlite|daemon)\/|^index\.ts$/;
  assert.ok(knowing.length > 50, 'hardly any import was found, so the search must be broken');
  assert.deepEqual(
    knowing.filter(({ from }) => !allowed.test(from.slice(gatewayFolder.length))),
    [],
  );
});

test('no folder holds more than a reader can look over', () => {
  const isSource = (name: string): boolean => name.endsWith('.ts') && !/\.test(?:-kit)?\.ts$/.test(name);
  const counts = Map.groupBy(globSync('packages/*/src/**/*.ts', { cwd: root }).filter(isSource), (file) =>
    dirname(file),
  );
  const crowded = [...counts].filter(([, files]) => files.length > 32).map(([folder]) => folder);
  assert.deepEqual(crowded, []);
});

test('imports are relative inside a package and by name between packages', () => {
  requirement('NFR-5');
  assert.deepEqual(findBorderCrossings(readImports('packages/*/src/**/*.ts')), []);
});

test('a package imports no other than those that it is installed with', () => {
  const findForeign = (home: string, kinds: readonly string[]): string[] => {
    const manifest = JSON.parse(readFileSync(join(root, home, 'package.json'), 'utf8')) as Record<string, object>;
    const known = new Set(kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {})));
    return readImports(`${home}/src/**/*.ts`)
      .filter(({ specifier }) => !/^(?:\.|node:)/.test(specifier))
      .filter(({ specifier }) => !known.has(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? ''))
      .map(({ from, specifier }) => `${from} imports ${specifier}`);
  };
  for (const home of [
    'packages/cli',
    'packages/gateway',
    'packages/contract',
    'packages/log',
    'packages/sandbox',
    'packages/sdk',
  ]) {
    assert.deepEqual(findForeign(home, ['dependencies']), [], home);
  }
  assert.match(findForeign('packages/gateway', ['devDependencies']).join(), /imports js-yaml/);
});

test('the compiler is as strict as promised', () => {
  requirement('NFR-5');
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: Record<string, unknown>;
  };
  for (const option of ['strict', 'erasableSyntaxOnly', 'noUncheckedIndexedAccess', 'exactOptionalPropertyTypes']) {
    assert.equal(compilerOptions[option], true, option);
  }
});

test('every way to import is found', () => {
  const source = `import a from './a.ts';
    import type {
      B,
    } from "./b.ts";
    export * from './c.ts';
    import './d.ts';
    const e = await import('./e.ts');
    new Worker(new URL('./f.ts', import.meta.url));
    const notAnImport = 'from ./g.ts';`;
  assert.deepEqual(findSpecifiers(source).sort(), ['./a.ts', './b.ts', './c.ts', './d.ts', './e.ts', './f.ts']);
});

test('an import that points up, a circle and an unknown folder are noticed', () => {
  const inGateway = (from: string, specifier: string): Import => ({ from: gatewayFolder + from, specifier });
  assert.deepEqual(
    findMisplaced([inGateway('stages/a.ts', '../call/b.ts'), inGateway('gateway.ts', './stages/a.ts')]),
    [],
  );
  assert.match(findMisplaced([inGateway('call/a.ts', '../stages/b.ts')]).join(), /stands above it/);
  assert.match(findMisplaced([inGateway('stages/a.ts', '../gateway.ts')]).join(), /stands above it/);
  assert.match(findMisplaced([inGateway('misc/a.ts', '../call/b.ts')]).join(), /misc\/a\.ts has no place/);

  const toStores = inGateway('audit/a.ts', '../storage/stores.ts');
  const fromAdapter = inGateway('storage/sqlite/b.ts', '../../audit/a.ts');
  assert.deepEqual(findCircles([toStores, fromAdapter]), []);
  const toAdapter = inGateway('audit/a.ts', '../storage/sqlite/b.ts');
  assert.deepEqual(findCircles([toAdapter, fromAdapter]), ['audit → storage/sqlite → audit']);
});

test('an import over the border of a package is noticed', () => {
  const from = 'packages/gateway/src/stages/a.ts';
  assert.deepEqual(findBorderCrossings([{ from, specifier: '@sallyport/contract' }]), []);
  assert.match(findBorderCrossings([{ from, specifier: '../../../contract/src/index.ts' }]).join(), /reaches out/);
  assert.match(
    findBorderCrossings([{ from, specifier: '@sallyport/contract/src/codes.ts' }]).join(),
    /no shared package exports/,
  );
  assert.match(findBorderCrossings([{ from, specifier: 'sallyport' }]).join(), /no shared package exports/);
  assert.deepEqual(findBorderCrossings([{ from, specifier: '@sallyport/log' }]), []);
  assert.match(
    findBorderCrossings([{ from, specifier: '@sallyport/log/src/leaf.ts' }]).join(),
    /no shared package exports/,
  );
  const inContract = 'packages/contract/src/a.ts';
  assert.match(findBorderCrossings([{ from: inContract, specifier: 'sallyport' }]).join(), /stands alone/);
});
