import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { load } from 'js-yaml';
import { makeFolder } from '../../policy/test-world.ts';
import { ProviderBook } from './provider-book.ts';
import {
  inferenceKinds,
  inferenceProviderKeys,
  modelKeys,
  noProviders,
  providerFileKeys,
  readProviderSettings,
  searchKinds,
  searchProviderKeys,
} from './provider-settings.ts';

const shipped = resolve(import.meta.dirname, '../../../../../config/governance');

function folderWith(text: string): string {
  const folder = makeFolder();
  writeFileSync(join(folder, 'providers.yaml'), text);
  return folder;
}

function problemOf(text: string): string {
  try {
    readProviderSettings(folderWith(text));
  } catch (error) {
    return (error as Error).message;
  }
  return assert.fail(`accepted: ${text}`);
}

test('no provider is set up unless somebody does', () => {
  assert.deepEqual(readProviderSettings(shipped), noProviders);
  assert.deepEqual(readProviderSettings(makeFolder()), noProviders);
});

test('the providers that stand in comments are read when the comment signs are taken away', () => {
  const text = readFileSync(join(shipped, 'providers.yaml'), 'utf8');
  const blocks = [...text.matchAll(/(?:^# {1,}(?:search:|inference:| {2,}).*\n)+/gm)].map(([block]) => block);
  const { search, inference } = readProviderSettings(folderWith(blocks.join('').replaceAll(/^# /gm, '')));
  assert.deepEqual(
    search.map(({ name, address, secret }) => [name, address.authority, secret]),
    [
      ['searxng', '127.0.0.1:8888', undefined],
      ['brave', 'api.search.brave.com:443', 'brave-key'],
      ['tavily', 'api.tavily.com:443', 'tavily-key'],
    ],
  );
  assert.deepEqual(
    inference.map(({ name, address, models }) => [name, address.url.href, [...models]]),
    [
      ['anthropic', 'https://api.anthropic.com/', [['some-model', { inputPerMillion: 1, outputPerMillion: 2 }]]],
      ['local', 'http://127.0.0.1:11434/v1', [['small-model', { inputPerMillion: 0, outputPerMillion: 0 }]]],
    ],
  );
});

test('mistakes are told with their place, all at once', () => {
  const models = 'models: [{ name: m }]';
  const mistakes: readonly (readonly [text: string, problem: RegExp])[] = [
    [
      'search: [{ name: a, kind: brav, secret: k }]',
      /1:27 {2}kind must be one of searxng, brave, tavily; did you mean brave/,
    ],
    ['search: [{ name: a, kind: brave }]', /brave needs a secret/],
    ['search: [{ name: a, kind: searxng }]', /searxng needs a url/],
    ['search: [{ name: a, kind: searxng, url: ftp://x }]', /url is not a web address/],
    ['search: [{ name: a, kind: searxng, url: "http://0x7f.1/" }]', /url is not a web address/],
    ['search: [{ name: a, kind: searxng, url: "http://u:p@x.test/" }]', /user name/],
    ['search: [{ name: a, kind: brave, url: "http://x.test", secret: k }]', /a key is sent over https/],
    ['search: [{ name: "A b", kind: searxng, url: "http://x.test" }]', /small letters/],
    [`inference: [{ name: a, kind: openai }]`, /lacks models/],
    [
      `inference: [{ name: a, kind: openai, ${models} }, { name: a, kind: openai, ${models} }]`,
      /two providers are called a/,
    ],
    ['inference: [{ name: a, kind: openai, models: [{ name: m, input_per_million: 1 }] }]', /both prices/],
    [
      'inference: [{ name: a, kind: openai, models: [{ name: m, input_per_million: -1, output_per_million: x }] }]',
      /a price/,
    ],
    ['searches: []', /unknown key searches/],
  ];
  for (const [text, problem] of mistakes) assert.match(problemOf(text), problem, text);
});

test('a change counts at once, and a mistake sets nobody up', () => {
  const folder = folderWith('search: [{ name: one, kind: searxng, url: "http://one.test" }]');
  const book = new ProviderBook(() => folder);
  assert.deepEqual(
    book.current.search.map(({ name }) => name),
    ['one'],
  );
  writeFileSync(join(folder, 'providers.yaml'), 'search: [{ name: second, kind: searxng, url: "http://two.test" }]');
  assert.deepEqual(
    book.current.search.map(({ name }) => name),
    ['second'],
  );
  writeFileSync(join(folder, 'providers.yaml'), 'search: nobody');
  assert.deepEqual(book.current, noProviders);
  assert.match(book.problem ?? '', /providers\.yaml:1:9/);
});

interface Schema {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly $defs: Readonly<Record<string, Schema>>;
  readonly enum?: readonly string[];
}

test('the schema for editors accepts the shipped file and knows the same keys', () => {
  const schema = JSON.parse(readFileSync(join(shipped, 'schemas/providers.schema.json'), 'utf8')) as Schema;
  const validate = new Ajv2020({ strict: true, strictRequired: false }).compile(schema);
  assert.ok(validate(load(readFileSync(join(shipped, 'providers.yaml'), 'utf8'))), JSON.stringify(validate.errors));
  assert.deepEqual(Object.keys(schema.properties), providerFileKeys);
  const { search, inference, model } = schema.$defs;
  assert.deepEqual(Object.keys(search?.properties ?? {}), searchProviderKeys);
  assert.deepEqual(Object.keys(inference?.properties ?? {}), inferenceProviderKeys);
  assert.deepEqual(Object.keys(model?.properties ?? {}), modelKeys);
  assert.deepEqual(search?.properties['kind']?.enum, Object.keys(searchKinds));
  assert.deepEqual(inference?.properties['kind']?.enum, Object.keys(inferenceKinds));
});
