import type { YamlNode } from '../text/yaml-node.ts';
import type { Fields, YamlReader } from '../text/yaml-reader.ts';
import { confirmations, risks } from '../call/tool.ts';
import type { AssignedProperties } from '../registry/define-foreign-tool.ts';
import { isToolName, nameRule } from '../registry/tool-name.ts';

/** What an operator says about a tool that comes from elsewhere. */
export interface Assignment {
  readonly tool: string;
  readonly assigned: AssignedProperties;
}

export const propertyKeys = ['risk', 'confirmation', 'mutates', 'idempotent', 'timeout_ms'] as const;
const longestTimeoutMs = 3_600_000;

export function readAssignment(node: YamlNode, reader: YamlReader): Assignment | undefined {
  const fields = reader.readFields(node, 'the assignment', ['tool', ...propertyKeys], ['tool']);
  const tool = fields?.tool === undefined ? undefined : readToolName(fields.tool, 'tool', reader);
  return fields === undefined || tool === undefined ? undefined : { tool, assigned: readProperties(fields, reader) };
}

export function readToolName(node: YamlNode, what: string, reader: YamlReader): string | undefined {
  const name = reader.readString(node, what);
  return name === undefined || isToolName(name) ? name : reader.note(node, `${what} must be ${nameRule}`);
}

export function readProperties(fields: Fields<(typeof propertyKeys)[number]>, reader: YamlReader): AssignedProperties {
  const risk = fields.risk && reader.readOneOf(fields.risk, 'risk', risks);
  const confirmation = fields.confirmation && reader.readOneOf(fields.confirmation, 'confirmation', confirmations);
  const mutates = fields.mutates && reader.readBoolean(fields.mutates, 'mutates');
  const idempotent = fields.idempotent && reader.readBoolean(fields.idempotent, 'idempotent');
  const range = { min: 1, max: longestTimeoutMs };
  const timeoutMs = fields.timeout_ms && reader.readInteger(fields.timeout_ms, 'timeout_ms', range);
  return {
    ...(risk === undefined ? {} : { risk }),
    ...(confirmation === undefined ? {} : { confirmation }),
    ...(mutates === undefined ? {} : { mutates }),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}
