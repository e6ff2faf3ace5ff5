import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { requirement } from '../../../../test/requirement.ts';
import type { Store } from '../storage/stores.ts';
import { approvalTools } from './approvals/index.ts';
import { artifactTools } from './artifacts/index.ts';
import { RunningCalls } from '../modes/running-calls.ts';
import { callTools } from './calls/calls.ts';
import { contentTools } from './content/index.ts';
import { fileTools } from './files/index.ts';
import { gitTools } from './git/index.ts';
import { leaseTools } from './leases/leases.ts';
import { modeTools } from './modes/modes.ts';
import { organisationTools } from './organisation/index.ts';
import { peopleTools } from './people/people.ts';
import { secretTools } from './secrets/secrets.ts';
import { shellTools } from './shell/index.ts';
import { sessionTools } from './sessions/sessions.ts';

// Definitions need none of what the tools work with.
const nothing = {} as never;
const tools = [
  ...approvalTools(nothing),
  ...fileTools(),
  ...shellTools(),
  ...gitTools(),
  ...contentTools(nothing),
  ...artifactTools(nothing),
  ...leaseTools({} as Store),
  ...modeTools(nothing),
  ...organisationTools(nothing),
  ...peopleTools({} as Store, { workspace: '/', endSession: () => Promise.resolve(true) }),
  ...secretTools(nothing),
  ...sessionTools({} as Store, {
    workspace: '/',
    callbackSecret: () => '',
    endSession: () => Promise.resolve(true),
  }),
  ...callTools(new RunningCalls(() => 'NORMAL')),
];

test('every schema of every built-in tool is JSON Schema 2020-12', () => {
  requirement('DEF-1');
  const ajv = new Ajv2020({ strict: false });
  for (const { definition } of tools) {
    for (const schema of [definition.inputSchema, definition.outputSchema]) {
      assert.equal(ajv.validateSchema(schema), true, `${definition.name}: ${ajv.errorsText()}`);
      assert.equal(schema['type'], 'object', definition.name);
    }
  }
});
