import { modes } from '../call/session.ts';
import { confirmations, risks } from '../call/tool.ts';
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '@sallyport/contract';
import { requirement } from '../../../../test/requirement.ts';
import type { Store } from '../storage/stores.ts';
import { approvalTools } from '../approvals/tools/index.ts';
import { artifactTools } from '../artifacts/tools.ts';
import { RunningCalls } from '../calls/running-calls.ts';
import { callTools } from '../calls/tools.ts';
import { contentTools } from '../content/tools/index.ts';
import { fileTools } from '../catalogue/files/index.ts';
import { gitTools } from '../catalogue/git/index.ts';
import { inferenceTools } from '../catalogue/inference/index.ts';
import { webTools } from '../catalogue/web/index.ts';
import { leaseTools } from '../sessions/tools/leases.ts';
import { modeTools } from '../modes/tools.ts';
import { organisationTools } from '../organisation/tools/index.ts';
import { peopleTools } from '../organisation/tools/people.ts';
import { secretTools } from '../secrets/tools.ts';
import { shellTools } from '../catalogue/shell/index.ts';
import { codeTools } from '../catalogue/code/index.ts';
import { databaseTools } from '../catalogue/data/index.ts';
import { selfTools } from '../catalogue/self/index.ts';
import { desktopTools } from '../catalogue/desktop/index.ts';
import { systemTools } from '../catalogue/system/index.ts';
import { sessionTools } from '../sessions/tools/sessions.ts';
import { undoTools } from '../undo/tools/index.ts';
import { whyTool } from '../undo/tools/why/why-tool.ts';
import { workspaceTools } from '../workspaces/tools.ts';

// Definitions need none of what the tools work with.
const nothing = {} as never;
const tools = [
  ...approvalTools(nothing),
  ...fileTools(),
  ...shellTools(),
  ...gitTools(),
  ...undoTools(nothing),
  whyTool(nothing),
  ...systemTools(),
  ...webTools(nothing),
  ...inferenceTools(nothing),
  ...codeTools(),
  ...selfTools({ settings: nothing, runChecks: nothing }),
  ...databaseTools(nothing),
  ...desktopTools({}),
  ...contentTools(nothing),
  ...artifactTools(nothing),
  ...leaseTools({} as Store),
  ...modeTools(nothing),
  ...organisationTools(nothing),
  ...peopleTools({} as Store, { workspace: '/', endSession: () => Promise.resolve(true), address: () => '' }),
  ...secretTools(nothing),
  ...workspaceTools(nothing),
  ...sessionTools({} as Store, {
    places: { own: '/', findRoot: () => '/', resolve: () => '/' },
    callbackSecret: () => '',
    endSession: () => Promise.resolve(true),
  }),
  ...callTools(new RunningCalls(() => 'NORMAL')),
];

test('the definition of every built-in tool holds everything that doors, rules and people ask it for', () => {
  requirement('DEF-1');
  const ajv = new Ajv2020({ strict: false });
  const rateLimits = tools.flatMap(({ definition }) => definition.rateLimitPerHour ?? []);
  assert.ok(rateLimits.every((limit) => Number.isInteger(limit) && limit > 0));
  for (const { definition } of tools) {
    const { name, aliases, version, description, tags, category, inputSchema, outputSchema, scopes } = definition;
    assert.match(name, /^[a-z]+(?:\.[a-z_]+)+$/);
    assert.ok(
      aliases.every((alias) => alias !== name && alias !== ''),
      name,
    );
    assert.match(version, /^\d+\.\d+\.\d+$/, name);
    assert.ok(description.length > 10 && category !== '' && tags.length > 0, name);
    for (const schema of [inputSchema, outputSchema]) {
      assert.equal(ajv.validateSchema(schema), true, `${name}: ${ajv.errorsText()}`);
      assert.equal(schema['type'], 'object', name);
    }
    assert.ok(risks.includes(definition.risk) && confirmations.includes(definition.confirmation), name);
    assert.ok(
      scopes.every((scope) => ['paths', 'apps', 'network', 'commands'].includes(scope)),
      name,
    );
    assert.ok(
      definition.allowedModes.length > 0 && definition.allowedModes.every((mode) => modes.includes(mode)),
      name,
    );
    assert.ok(definition.timeoutMs > 0 && definition.timeoutMs <= 3_600_000, name);
    for (const flag of ['mutates', 'requiresApproval', 'requiresSandbox', 'idempotent'] as const) {
      assert.equal(typeof definition[flag], 'boolean', `${name} ${flag}`);
    }
  }
});

test('every example in a schema is a value that the schema accepts', () => {
  const ajv = new Ajv2020({ strict: false });
  for (const { definition } of tools) {
    const properties = (definition.inputSchema['properties'] ?? {}) as Record<string, JsonObject>;
    for (const [name, { examples = [], ...schema }] of Object.entries(properties)) {
      for (const example of examples as readonly Json[]) {
        assert.ok(ajv.validate(schema, example), `${definition.name} ${name}: ${ajv.errorsText()}`);
      }
    }
  }
});

test('every schema of every built-in tool is JSON Schema 2020-12', () => {
  const ajv = new Ajv2020({ strict: false });
  for (const { definition } of tools) {
    for (const schema of [definition.inputSchema, definition.outputSchema]) {
      assert.equal(ajv.validateSchema(schema), true, `${definition.name}: ${ajv.errorsText()}`);
      assert.equal(schema['type'], 'object', definition.name);
    }
  }
});

test('of the built-in tools, only notices of the desktop run outside the sandbox without a rule that says so', () => {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname }).filter((file) => !file.endsWith('.test.ts'));
  const loose = files.filter((file) =>
    readFileSync(join(import.meta.dirname, file), 'utf8').includes("isolation: 'none'"),
  );
  // An application leaves the sandbox only where a rule grants that.
  assert.deepEqual(loose.toSorted(), ['desktop/apps-open.ts', 'desktop/notify-send.ts']);
});
