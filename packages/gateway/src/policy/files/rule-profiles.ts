import type { RuleFile } from './rule-files.ts';

export const ruleProfiles = ['personal', 'team', 'strict'] as const;
export type RuleProfile = (typeof ruleProfiles)[number];

/** What differs from the shipped rules, by the id of the rule. Null: the profile has no such rule. */
type Edits = Readonly<Record<string, ((rule: string) => string) | null>>;

const ask = (rule: string): string =>
  rule.replace(/^( +effect: )allow$/m, '$1require_approval').replaceAll(/^ +(?:approval|accept_new): .*\n/gm, '');

const edits: Readonly<Record<RuleProfile, Edits>> = {
  /** For one person with coding agents: as shipped. Agents write in the workspace unasked. */
  personal: {},
  /** Every change asks, and an operator accepts each tool. */
  team: { 'workspace-write': ask, 'own-tools': ask },
  /** Agents look, and change nothing, until a rule of your own says otherwise. */
  strict: {
    'workspace-write': null,
    'workspace-move': null,
    'workspace-delete': null,
    'git-change': null,
    'own-tools': null,
    'director-agents': null,
  },
};

const remarks: Readonly<Record<RuleProfile, string>> = {
  personal: 'Agents read and write in the workspace; what is dangerous asks.',
  team: 'Agents read the workspace and ask before every change.',
  strict: 'Agents read the workspace and change nothing, until a rule of yours allows it.',
};

/** The shipped files as a profile has them. Rules stand in blocks with an empty line between, remarks included. */
export function chooseProfile(files: readonly RuleFile[], profile: RuleProfile): readonly RuleFile[] {
  return files.map((file) => {
    if (file.name !== 'tools.yaml' || file.bytes === undefined) return file;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(file.bytes);
    const blocks = text.split(/\n\n(?=\S| )/).flatMap((block) => {
      const id = /^ {2}- id: ([a-z0-9-]+)$/m.exec(block)?.[1];
      const edit = id === undefined ? undefined : edits[profile][id];
      if (edit === null) return [];
      return [edit === undefined ? block : edit(block)];
    });
    const head = `# These rules are yours, of the profile ${profile}. ${remarks[profile]}\n# Edit them, then run: sallyport policy apply\n\n`;
    return {
      ...file,
      bytes: new TextEncoder().encode(head + blocks.map((block) => block.trimEnd()).join('\n\n') + '\n'),
    };
  });
}
