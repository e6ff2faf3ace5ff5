import { codes, describeCode, exitCodes } from '@sallyport/contract';
import type { Code } from '@sallyport/contract';

const exitMeanings: Record<keyof typeof exitCodes, string> = {
  success: 'The call succeeded.',
  usage: 'The command line or a file it names is wrong.',
  unreachable: 'No daemon answered.',
  denied: 'A gate refused the call.',
  toolError: 'The call was let through and failed, or may be tried again later.',
  pendingApproval: 'A person has to decide first; the output holds the ticket.',
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

function renderTable(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const lines = [header, header.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
