import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { requirement } from './requirement.ts';

const root = join(import.meta.dirname, '..');

interface Line {
  readonly file: string;
  readonly text: string;
}

function linesOf(folder: string): Line[] {
  const exclude = (name: string): boolean => /\.test(?:-kit)?\.ts$|\/gen\//.test(name);
  return globSync(`${folder}/**/*.ts`, { cwd: root, exclude })
    .sort()
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .map((text) => ({ file, text })),
    );
}

const gateway = 'packages/gateway/src/';

test('only the redactor says that a text has no secrets', () => {
  requirement('AUD-4');
  const makers = [
    'redaction/redact.ts',
    'call/redacted.ts',
    'redaction/quoted-secrets.ts',
    'registry/shown-definitions.ts',
  ];
  const says = /\bas (?:unknown as )?(?:Redacted(?:Json|Progress|Refusal)?|ShownDefinition)\b/;
  const others = linesOf('packages/gateway/src').filter(
    ({ file, text }) => says.test(text) && !makers.includes(file.replace(gateway, '')),
  );
  assert.deepEqual(others, []);
});

test('doors show what the author of a tool wrote only as it was redacted', () => {
  requirement('AUD-4');
  const raw =
    /\bdefinition\.(?:description|inputSchema|outputSchema)\b|\{[^}]*\b(?:inputSchema|outputSchema)\b[^}]*\} = /;
  const found = linesOf('packages/gateway/src/doors').filter(({ text }) => raw.test(text));
  assert.deepEqual(found, []);
});

/** What cuts a text before it is redacted, and why it may. */
const cutters: Readonly<Record<string, string>> = {
  'call/redacted.ts': 'cuts what is redacted',
  'redaction/secret-names.ts': 'reads the beginning of a name and shows nothing of it',
  'text/nearest-names.ts': 'compares beginnings and shows nothing of them',
  'doors/hooks/map-use.ts': 'shortens a hash',
  'doors/typed/read-call.ts': 'shortens a credential that is then not found',
  'catalogue/files/tree/search-tree.ts': 'shortens a result, which is handed on as it is',
  'audit/search/entry-terms.ts': 'reads records, which are redacted',
  'catalogue/code/collect-symbols.ts': 'shortens a result, which is handed on as it is',
  'catalogue/code/log-level.ts': 'reads the beginning of a line and shows nothing of it',
  'catalogue/code/logs-search.ts': 'shortens a result, which is handed on as it is',
  'catalogue/code/read-junit.ts': 'shortens a result, which is handed on as it is',
  'catalogue/code/search-with-ripgrep.ts': 'shortens a result, which is handed on as it is',
  'catalogue/code/test-runners.ts': 'shortens a result, which is handed on as it is',
  'catalogue/web/html-to-markdown.ts': 'shortens a result, which is handed on as it is',
  'catalogue/web/present-answer.ts': 'shortens a result, out of which held secrets were taken before',
  'catalogue/web/web-fetch.ts': 'shortens a result, which is handed on as it is',
  'daemon/parts/open-modes.ts': 'shortens a list',
  'policy/language/read-project-rules.ts': 'shortens a list',
  'policy/files/add-rules.ts': 'shortens the name of a tool, for the id of a rule',
};

test('no text is cut before it is redacted: of half a secret nobody recognises what is left', () => {
  requirement('AUD-4');
  const cut =
    /\.(?:slice|substring|substr)\(\s*(?:0,\s*|-)(?:longest\w*|\w+Char(?:acter)?s|\w*Text|[1-9][0-9_]{2,}|[4-9][0-9])\b/;
  const found = ['gateway', 'contract', 'sandbox']
    .flatMap((name) => linesOf(`packages/${name}/src`))
    .filter(({ file, text }) => cut.test(text) && !file.startsWith(`${gateway}cli/`))
    .map(({ file, text }) => ({ file: file.replace(gateway, ''), text: text.trim() }));
  assert.deepEqual(
    found.filter(({ file }) => cutters[file] === undefined),
    [],
  );
  // Who is listed and cuts no more should not be listed.
  assert.deepEqual(
    Object.keys(cutters).filter((file) => !found.some((each) => each.file === file)),
    [],
  );
});
