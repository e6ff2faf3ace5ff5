import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requirement } from '../../../../test/requirement.ts';
import { Redactor } from '../redaction/redact.ts';
import { refuse } from '../call/refusal.ts';
import type { AnyTool } from '../call/tool.ts';
import { ShownDefinitions } from '../registry/shown-definitions.ts';
import { definitionOf, toolOf } from '../stages/facts.test-kit.ts';
import { presentTool } from './present-tool.ts';

const secret = 'Zq7-vTx93kLmPw2RbNd8';

test('why a tool cannot be called is told without secrets, and so is what it says about itself', () => {
  requirement('AUD-4');
  const tool: AnyTool = {
    ...toolOf({}),
    definition: definitionOf({ name: 'demo.tool', origin: 'executable', description: `With ${secret}.` }),
    status: () => 'missing-binary',
    explainUnusable: () => refuse('TOOL_MISSING', 'registry', `It printed ${secret}.`),
  };
  const redactor = new Redactor([secret]);
  const shown = presentTool(tool, { definitions: new ShownDefinitions(redactor), redact: redactor.redactText });
  assert.equal(shown.statusReason, 'It printed [redacted].');
  assert.equal(shown.description, 'With [redacted].');
  assert.equal(shown.origin, 'executable');
});
