import { scalarOf } from '../text/yaml-node.ts';
import type { YamlNode } from '../text/yaml-node.ts';
import type { Fields, YamlReader } from '../text/yaml-reader.ts';
import { modes } from '../call/session.ts';
import { confirmations, risks } from '../call/tool.ts';
import type { AssignedProperties } from '../registry/define-foreign-tool.ts';
import { isToolName, nameRule } from '../registry/tool-name.ts';
import { present, strictest } from '../registry/tool-requests.ts';

/** What an operator says about a tool that comes from elsewhere. */
export interface Assignment {
  readonly tool: string;
  readonly assigned: AssignedProperties;
}

export const propertyKeys = [
  ...(['risk', 'risk_level', 'confirmation', 'requires_confirmation', 'mutates', 'idempotent'] as const),
  ...(['requires_approval', 'requires_sandbox', 'allowed_modes', 'rate_limit_per_hour'] as const),
  ...(['timeout_ms', 'timeout_seconds'] as const),
] as const;
const longestTimeoutMs = 3_600_000;
const mostCalls = 1_000_000;

export function readAssignment(node: YamlNode, reader: YamlReader): Assignment | undefined {
  const fields = reader.readFields(node, 'the assignment', ['tool', ...propertyKeys], ['tool']);
  const tool = fields?.tool === undefined ? undefined : readToolName(fields.tool, 'tool', reader);
  return fields === undefined || tool === undefined ? undefined : { tool, assigned: readProperties(fields, reader) };
}

export function readToolName(node: YamlNode, what: string, reader: YamlReader): string | undefined {
  const name = reader.readString(node, what);
  return name === undefined || isToolName(name) ? name : reader.note(node, `${what} must be ${nameRule}`);
}

/** Of two names for one thing, the stricter value counts. */
export function readProperties(fields: Fields<(typeof propertyKeys)[number]>, reader: YamlReader): AssignedProperties {
  const readFlag = (key: 'mutates' | 'idempotent' | 'requires_approval' | 'requires_confirmation') => {
    const node = given(fields[key]);
    return node && reader.readBoolean(node, key);
  };
  const readCount = (key: 'timeout_ms' | 'timeout_seconds' | 'rate_limit_per_hour', max: number) => {
    const node = given(fields[key]);
    return node && reader.readInteger(node, key, { min: 1, max });
  };
  const readRisk = (key: 'risk' | 'risk_level') => fields[key] && reader.readOneOf(fields[key], key, risks);
  const confirmation = fields.confirmation && reader.readOneOf(fields.confirmation, 'confirmation', confirmations);
  const always = readFlag('requires_confirmation') === true ? 'always' : undefined;
  checkSandbox(fields.requires_sandbox, reader);
  const seconds = readCount('timeout_seconds', longestTimeoutMs / 1000);
  const timeouts = [readCount('timeout_ms', longestTimeoutMs), seconds && seconds * 1000];
  const found = timeouts.filter((each) => each !== undefined);
  const readMode = (item: YamlNode) => reader.readOneOf(item, 'allowed_modes', modes);
  return present({
    risk: strictest(risks, readRisk('risk'), readRisk('risk_level')),
    confirmation: strictest(confirmations, confirmation, always),
    mutates: readFlag('mutates'),
    idempotent: readFlag('idempotent'),
    requiresApproval: readFlag('requires_approval'),
    allowedModes: fields.allowed_modes && reader.readItems(fields.allowed_modes, 'allowed_modes', readMode),
    rateLimitPerHour: readCount('rate_limit_per_hour', mostCalls),
    timeoutMs: found.length === 0 ? undefined : Math.min(...found),
  });
}

/** What is null says nothing. */
function given(node: YamlNode | undefined): YamlNode | undefined {
  return node === undefined || scalarOf(node) === null ? undefined : node;
}

/** Programs always run in the sandbox; only a rule can say otherwise. So `false` changes nothing. */
function checkSandbox(node: YamlNode | undefined, reader: YamlReader): void {
  if (node !== undefined) reader.readBoolean(node, 'requires_sandbox');
}
