import { spellCount } from '@sallyport/contract';
import { toNumber } from '../../client/answer-json.ts';
import type { CommandContext } from '../../command-context.ts';
import { formatDuration } from '../../terminal/format-time.ts';
import { renderFields } from '../../terminal/table.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import type { GetStatusResponse, InJson } from '@sallyport/contract';

export async function showStatus(context: CommandContext): Promise<number> {
  const status = await context.openOperatorClient().call('OperatorService/GetStatus', {});
  if (context.json) context.terminal.print(visibleJson(statusToJson(status)));
  else context.terminal.print(...renderStatus(status, context));
  return 0;
}

export function statusToJson(status: InJson<GetStatusResponse>): object {
  return {
    version: status.version ?? '',
    pid: status.pid ?? 0,
    uptime_ms: toNumber(status.uptimeMs),
    health: status.health ?? '',
    health_reason: status.healthReason ?? '',
    mode: status.mode ?? '',
    profile: status.profile ?? '',
    install: status.install ?? '',
    install_meaning: status.installMeaning ?? '',
    home: status.home ?? '',
    workspace: status.workspace ?? '',
    workspace_reason: status.workspaceReason ?? '',
    workspace_roots: status.workspaceRoots ?? [],
    address: status.address ?? '',
    operator_socket: status.operatorSocket ?? '',
    agent_socket: status.agentSocket ?? '',
    rules_hash: status.rulesHash ?? '',
    rules_folder: status.rulesFolder ?? '',
    rule_count: status.ruleCount ?? 0,
    tool_count: status.toolCount ?? 0,
    active_sessions: status.activeSessions ?? 0,
    calls_in_flight: status.callsInFlight ?? 0,
    log_size: toNumber(status.logSize),
    checkpoint_size: toNumber(status.checkpointSize),
    warnings: status.warnings ?? [],
  };
}

function renderStatus(status: InJson<GetStatusResponse>, { terminal }: CommandContext): string[] {
  const { version, pid, health, healthReason, mode } = status;
  const healthy = health === 'serving';
  const state = terminal.paint(
    healthy ? 'green' : 'red',
    healthy ? 'serving' : `${health}: ${makeVisibleLine(healthReason)}`,
  );
  const logSize = toNumber(status.logSize);
  const fields: [string, string][] = [
    ['mode', mode],
    ['profile', describeProfile(status.profile)],
    ['process', `${pid}, up ${formatDuration(toNumber(status.uptimeMs))}`],
    ['address', status.address ?? ''],
    ['workspace', withReason(status.workspace, status.workspaceReason)],
    ['projects', (status.workspaceRoots ?? []).slice(1).join('\n')],
    ['rules', `${status.ruleCount ?? 0} in ${status.rulesFolder ?? ''}`],
    ['tools', String(status.toolCount ?? 0)],
    ['sessions', `${status.activeSessions ?? 0} open, ${spellCount(status.callsInFlight ?? 0, 'call')} running`],
    ['log', `${spellCount(logSize, 'record')}, ${toNumber(status.checkpointSize)} of them signed`],
    ['home', status.home ?? ''],
    ['install', withReason(status.install, status.installMeaning)],
    ...(status.warnings ?? []).map((warning): [string, string] => ['look at', warning]),
  ];
  return [
    `Sallyport ${makeVisibleLine(version)}  ${state}`,
    ...renderFields(
      fields.map(([label, value]) => [label, value.split('\n').map(makeVisibleLine).join('\n')]),
      terminal.columns,
    ),
  ];
}

export function withReason(value = '', reason = ''): string {
  return reason === '' ? value : `${value}\n${reason}`;
}

/** What the profile of the organisation means for the calls of agents. */
export function describeProfile(profile = ''): string {
  const meaning = profile === 'team' ? 'agents ask before they change files' : 'agents write in the workspace unasked';
  return `${profile}: ${meaning}`;
}
