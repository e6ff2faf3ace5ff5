import type { RuleFile } from './rule-files.ts';

export const ruleProfiles = ['personal', 'team', 'strict'] as const;
export type RuleProfile = (typeof ruleProfiles)[number];

/** Shipped rules that open nothing that changes anything outside the gate. A rule that is not named here counts as one. */
const onlyLook = new Set([
  ...['workspace-read', 'git-read', 'machine-state', 'gate-itself', 'databases', 'database-read'],
  ...['own-content', 'plans'],
]);
/** What the clients of agents do by themselves and only looks; and what asks by its risk, whatever a rule says. */
const unaskedInTeams = new Set([...onlyLook, 'client-commands-known', 'client-tools-known', 'director-agents']);

interface Profile {
  readonly remark: string;
  /** One rule of the shipped ones, as the profile has it. Undefined: it has no such rule. */
  readonly edit: (rule: string, id: string) => string | undefined;
}

const profiles: Readonly<Record<RuleProfile, Profile>> = {
  personal: {
    remark: 'Agents read and write in the workspace; what is dangerous asks.',
    edit: (rule) => rule,
  },
  team: {
    remark: 'Agents look, and ask before every change; programs run only where their limits are enforced.',
    edit: (rule, id) => demandLimits(unaskedInTeams.has(id) ? rule : ask(rule), id),
  },
  strict: {
    remark: 'Agents look, and change nothing, until a rule of yours allows it.',
    edit: (rule, id) => (onlyLook.has(id) || /^ +effect: deny$/m.test(rule) ? rule : undefined),
  },
};

function ask(rule: string): string {
  const asking = rule.replace(/^( +effect: )allow$/m, '$1require_approval');
  return asking === rule ? rule : asking.replaceAll(/^ +(?:approval|accept_new): .*\n/gm, '');
}

function demandLimits(rule: string, id: string): string {
  if (/^ +grants: \{ /m.test(rule)) return rule.replace(/^( +grants: \{) /m, '$1 exact_limits: true, ');
  return id === 'own-tools' ? rule.replace(/^( +)(match:)$/m, '$1grants: { exact_limits: true }\n$1$2') : rule;
}

/** The shipped files as a profile has them. Rules stand in blocks with an empty line between, remarks included. */
export function chooseProfile(files: readonly RuleFile[], profile: RuleProfile): readonly RuleFile[] {
  const { remark, edit } = profiles[profile];
  return files.map((file) => {
    if (file.name !== 'tools.yaml' || file.bytes === undefined) return file;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(file.bytes);
    const blocks = text
      .trimEnd()
      .split('\n\n')
      .flatMap((block) => {
        const id = /^ {2}- id: ([a-z0-9-]+)$/m.exec(block)?.[1];
        if (id === undefined) return [block];
        return edit(`${block}\n`, id)?.trimEnd() ?? [];
      });
    const head = `# These rules are yours, of the profile ${profile}. ${remark}\n# Edit them, then run: sallyport policy apply`;
    return { ...file, bytes: new TextEncoder().encode(`${[head, ...blocks].join('\n\n')}\n`) };
  });
}
