import { OrganisationReportSchema, OrganisationSettingsSchema } from '@sallyport/contract';
import { profiles } from '../../call/organisation.ts';
import type { OrganisationSettings, Profile } from '../../call/organisation.ts';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { agentTools, describeMember } from './agents.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { defineChanging } from './define-organisation-tool.ts';
import type { OrganisationToolParts } from './define-organisation-tool.ts';
import { describePermission, permissionTools } from './permissions.ts';
import { roleTools } from './roles.ts';
import { teamTools } from './teams.ts';

/** Tools that show and change the organisation, as governed calls. */
export function organisationTools(parts: OrganisationToolParts): readonly AnyTool[] {
  return [
    showTool(parts),
    ...teamTools(parts),
    ...agentTools(parts),
    ...roleTools(parts),
    ...permissionTools(parts),
    configureTool(parts),
  ];
}

function showTool({ store }: OrganisationToolParts) {
  return defineOperatorTool({
    name: 'organisation.show',
    description: 'Shows the settings, teams, members and permissions.',
    mutates: false,
    answers: OrganisationReportSchema,
    run: () => {
      const { settings, teams, members, permissions } = store.readOrganisation();
      return {
        settings,
        teams,
        members: members.map(describeMember),
        permissions: permissions.map(describePermission),
      };
    },
    summarize: () => 'read organisation',
  });
}

const settingNames = ['profile', 'organisation_name'] as const;

interface Configuration {
  readonly setting: (typeof settingNames)[number];
  readonly value: string;
}

function configureTool({ store, offices }: OrganisationToolParts) {
  return defineChanging(offices, {
    name: 'system.configure',
    alias: 'system_config_change',
    description: 'Changes one of the settings that docs/organisation.md lists.',
    properties: {
      setting: { enum: settingNames },
      value: { type: 'string', maxLength: 200 },
    },
    required: ['setting', 'value'],
    answers: OrganisationSettingsSchema,
    tell: ({ setting, value }) => `Set ${setting} to ${value}.`,
    change: async (wish) => {
      const settings = { ...store.readOrganisation().settings, ...readSetting(wish) };
      await store.changeOrganisation({ kind: 'put-settings', settings });
      return settings;
    },
  });
}

function readSetting({ setting, value }: Configuration): Partial<OrganisationSettings> {
  switch (setting) {
    case 'profile':
      if ((profiles as readonly string[]).includes(value)) return { profile: value as Profile };
      throw new ToolFailure('EXECUTION_ERROR', `profile is one of ${profiles.join(', ')}.`);
    case 'organisation_name':
      return { organisationName: value };
  }
}
