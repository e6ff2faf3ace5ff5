import { codes, describeCode, exitCodes } from '@sallyport/contract';
import type { Code } from '@sallyport/contract';
import { spellOption, spellPlaceholder } from '../packages/cli/src/command-table.ts';
import type { CommandSpec, ValueSpec } from '../packages/cli/src/command-table.ts';
import { commandTable, globalOptions } from '../packages/cli/src/commands/index.ts';

const exitMeanings: Record<keyof typeof exitCodes, string> = {
  success: 'The call succeeded.',
  usage: 'The command line or a file it names is wrong.',
  unreachable: 'No daemon answered.',
  denied: 'A gate refused the call.',
  toolError: 'The call was let through and failed, or may be tried again later.',
  pendingApproval: 'A person has to decide first; the output names the task.',
};

/** The page docs/errors.md: what the table of codes says, for people. */
export function renderErrorsPage(): string {
  const rows = (Object.keys(codes) as Code[]).map((code) => {
    const { presentedAs, category, connect, http, exit, retryable, meaning } = describeCode(code);
    return [`\`${code}\``, presentedAs, category, connect, http, exit, retryable ? 'yes' : 'no', meaning];
  });
  const exits = Object.entries(exitCodes).map(([name, exit]) => [exit, exitMeanings[name as keyof typeof exitCodes]]);
  return `# Errors

Every answer that is not a success carries one of these codes, at every door. \`denied\` means that a gate stopped the
call before anything ran. \`error\` means that the call was allowed and failed, or that trying again later may help. A
refusal also names the rule, the reason and the remedy. Agents and operators read different texts: only operators read
which rule to change, and how.

${renderTable(['Code', 'Shown as', 'Category', 'Connect', 'HTTP', 'Exit', 'Retryable', 'Meaning'], rows)}

## Exit codes of the command line

${renderTable(['Exit', 'Meaning'], exits)}

This page is written by \`npm run generate\` from \`packages/contract/src/codes.ts\`; a test fails when they differ.
`;
}

/** The page docs/commands.md: every command as the table of the command line declares it. */
export async function renderCommandsPage(): Promise<string> {
  const parts: string[] = [];
  for (const entry of commandTable) {
    if (!('load' in entry)) parts.push(...(entry.isHidden === true ? [] : [renderCommand('##', '', entry)]));
    else {
      const commands = await entry.load();
      parts.push(`## \`${entry.name}\`\n\n${spellSentence(entry.help)}`);
      parts.push(...commands.map((command) => renderCommand('###', `${entry.name} `, command)));
    }
  }
  return `# Commands

Every command begins with \`sallyport\`. These options go with all of them:

${renderOptions(globalOptions)}

${parts.join('\n\n')}

This page is written by \`npm run generate\` from the commands in \`packages/cli/src/commands\`; a test fails when they
differ.
`;
}

function renderCommand(level: string, prefix: string, { name, help, options, arguments: args }: CommandSpec): string {
  const words = Object.values(args).map((spec) => spellPlaceholder(spec, spec.isRequired !== true));
  const heading = `${level} \`${[`${prefix}${name}`, ...words].join(' ')}\`\n\n${spellSentence(help)}`;
  return Object.keys(options).length === 0 ? heading : `${heading}\n\n${renderOptions(options)}`;
}

function renderOptions(options: Readonly<Record<string, ValueSpec>>): string {
  const rows = Object.entries(options).map(([name, spec]) => {
    const { short, help, defaultValue, choices, isRequired = false, isValueOptional = false } = spec;
    const value = spellPlaceholder(spec, isValueOptional);
    const flags = `${short === undefined ? '' : `-${short}, `}--${spellOption(name)} ${value}`.trimEnd();
    const facts = [
      choices === undefined ? '' : `one of ${choices.join(', ')}`,
      defaultValue === undefined ? '' : `default: ${JSON.stringify(defaultValue)}`,
      isRequired ? 'required' : '',
    ].filter((fact) => fact !== '');
    return [`\`${flags}\``, facts.length === 0 ? help : `${help} (${facts.join('; ')})`];
  });
  return renderTable(['Option', 'Meaning'], rows);
}

function spellSentence(help: string): string {
  return `${help.charAt(0).toUpperCase()}${help.slice(1)}.`;
}

export function renderTable(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const lines = [header, header.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
