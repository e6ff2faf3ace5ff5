import { spellCount } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { formatDuration } from '../../terminal/format-time.ts';
import { renderFields } from '../../terminal/table.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import type { GetStatusResponse, InJson } from '@sallyport/contract';

export async function showStatus(context: CommandContext): Promise<number> {
  const status = await context.openOperatorClient().call('OperatorService/GetStatus', {});
  if (context.json) context.terminal.print(visibleJson(status));
  else context.terminal.print(...renderStatus(status, context));
  return 0;
}

function renderStatus(status: InJson<GetStatusResponse>, { terminal }: CommandContext): string[] {
  const { version, pid, health, healthReason, mode } = status;
  const healthy = health === 'serving';
  const state = terminal.paint(
    healthy ? 'green' : 'red',
    healthy ? 'serving' : `${health}: ${makeVisibleLine(healthReason)}`,
  );
  const fields: [string, string][] = [
    ['mode', mode],
    ['profile', describeProfile(status.profile)],
    ['process', `${pid}, up ${formatDuration(Number(status.uptimeMs))}`],
    ['address', status.address],
    ['workspace', withReason(status.workspace, status.workspaceReason)],
    ['projects', status.workspaceRoots.slice(1).join('\n')],
    ['rules', `${status.ruleCount} in ${status.rulesFolder}`],
    ['tools', String(status.toolCount)],
    ['sessions', `${status.activeSessions} open, ${spellCount(status.callsInFlight, 'call')} running`],
    ['log', `${spellCount(Number(status.logSize), 'record')}, ${status.checkpointSize} of them signed`],
    ['traces', describeTraces(status)],
    ['home', status.home],
    ['install', withReason(status.install, status.installMeaning)],
    ...status.warnings.map((warning): [string, string] => ['look at', warning]),
  ];
  return [
    `Sallyport ${makeVisibleLine(version)}  ${state}`,
    ...renderFields(
      fields.map(([label, value]) => [label, value.split('\n').map(makeVisibleLine).join('\n')]),
      terminal.columns,
    ),
  ];
}

export function withReason(value: string, reason: string): string {
  return reason === '' ? value : `${value}\n${reason}`;
}

/** Empty: nobody wants spans. */
export function describeTraces({ telemetry }: Pick<InJson<GetStatusResponse>, 'telemetry'>): string {
  const { traces = 'off', endpoint = '', exportedSpans = '0', droppedSpans = '0', problem = '' } = telemetry ?? {};
  if (traces === 'off') return '';
  const lost = droppedSpans === '0' ? '' : `, ${droppedSpans} dropped`;
  const counted = `${spellCount(Number(exportedSpans), 'span')} sent to ${endpoint}${lost}`;
  return withReason(counted, traces === 'working' ? '' : traces === 'failing' ? `failing: ${problem}` : 'starting');
}

/** What the profile of the organisation means for the calls of agents. */
export function describeProfile(profile: string): string {
  const meaning = profile === 'team' ? 'agents ask before they change files' : 'agents write in the workspace unasked';
  return `${profile}: ${meaning}`;
}
