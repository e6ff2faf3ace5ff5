import type { Json, JsonObject } from '@sallyport/contract';
import type { Profile } from '../../call/organisation.ts';
import { refuse } from '../../call/refusal.ts';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { Tool, ToolContext } from '../../call/tool.ts';
import type { Offices } from '../offices.ts';
import type { Store } from '../../storage/stores.ts';
import { defineAdministration } from '../../registry/administration.ts';
import type { EndSession } from '../../sessions/tools/sessions.ts';

export interface OrganisationToolParts {
  readonly store: Pick<Store, 'readOrganisation' | 'changeOrganisation' | 'liveSessions'>;
  readonly endSession: EndSession;
  readonly offices: Offices;
  /** The roles that roles.yaml gives an agent. */
  readonly rolesOf: (agent: string, profile?: Profile) => readonly string[];
}

export interface Reading<Arguments> {
  readonly name: string;
  readonly description: string;
  readonly properties: JsonObject;
  readonly required?: readonly string[];
  readonly read: (args: Arguments) => JsonObject;
}

export interface Changing<Arguments> {
  readonly name: string;
  /** As other systems call it. */
  readonly alias?: string;
  readonly description: string;
  readonly properties: JsonObject;
  readonly required: readonly string[];
  /** What it would do, in one line. */
  readonly tell: (args: Arguments) => string;
  readonly change: (args: Arguments, context: ToolContext) => Promise<JsonObject>;
}

const anyObject: JsonObject = { type: 'object' };

export function defineReading<Arguments>(options: Reading<Arguments>): Tool<Arguments> {
  const { name, description, properties, required = [], read } = options;
  return {
    definition: defineAdministration({
      name,
      description,
      mutates: false,
      idempotent: true,
      inputSchema: { type: 'object', additionalProperties: false, required, properties },
      outputSchema: anyObject,
    }),
    claim: () => ({ paths: [] }),
    preview: () => Promise.resolve({ summary: description, detail: '', undoable: true }),
    run: async (args) => read(args),
    summarize: () => `read ${name.split('.')[0]}`,
  };
}

/**
 * Who may use what and who decides is changed by directors only. A person among them confirms what they see; where an
 * agent with that role asks, a person decides.
 */
export function defineChanging<Arguments>(offices: Offices, options: Changing<Arguments>): Tool<Arguments> {
  const { name, alias, description, properties, required, tell, change } = options;
  return {
    definition: {
      ...defineAdministration({
        name,
        description,
        mutates: true,
        idempotent: false,
        inputSchema: { type: 'object', additionalProperties: false, required, properties },
        outputSchema: anyObject,
      }),
      aliases: alias === undefined ? [] : [alias],
      risk: 'critical',
      confirmation: 'always',
      requiresApproval: true,
      audience: 'director',
    },
    claim: (_args, session) => {
      if (offices.mayAdminister(session)) return { paths: [] };
      throw new ToolRefused(
        refuse('RULE_DENIES', 'director', `Only a director may use ${name}.`, { remedy: 'Ask a director to do it.' }),
      );
    },
    preview: (args) => Promise.resolve({ summary: tell(args), detail: JSON.stringify(args, null, 2), undoable: true }),
    run: (args, context): Promise<Json> => change(args, context),
    summarize: (args) => tell(args),
  };
}

export function nameOf(description: string): JsonObject {
  return { type: 'string', minLength: 1, maxLength: 128, pattern: '^[^\\u0000-\\u001f\\u007f]+$', description };
}

export const toolsProperty: JsonObject = {
  type: 'string',
  maxLength: 200,
  pattern: '^[A-Za-z0-9_*][A-Za-z0-9_.*-]*$',
  description: 'A canonical name such as files.write; * stands for any text.',
};

export function missing(what: string, name: string): ToolFailure {
  return new ToolFailure('NOT_FOUND', `There is no ${what} ${name}.`);
}
