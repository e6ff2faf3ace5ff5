import { existsSync } from 'node:fs';
import { CommandFailure } from '../../client/failure.ts';
import { StepFailed } from '../../client/run-steps.ts';
import type { Step } from '../../client/run-steps.ts';
import type { CommandContext } from '../../command-context.ts';
import { openPackage } from '../upstreams/open-package.ts';
import type { KeptSettings } from './kept-settings.ts';
import type { ClientPlan } from './plan-client.ts';
import type { Import } from './plan-import.ts';

export interface ImportedServer {
  readonly server: string;
  /** Absent: it stays in the settings of the client. */
  readonly upstream?: string;
  readonly secrets: readonly string[];
  /** Why it stays. */
  readonly why?: string;
}

/**
 * Makes upstreams of the servers of a client, in the governed way, one after the other; their tokens become secrets first.
 * What the gate refuses stays with the client. `done`: what was imported in this run already. Grows.
 */
export async function importServers(
  { client, servers }: ClientPlan,
  step: Step,
  { kept, done }: { readonly kept: KeptSettings; readonly done: Set<string> },
  context: CommandContext,
): Promise<readonly ImportedServer[]> {
  const imported: ImportedServer[] = [];
  for (const plan of servers) {
    const { server } = plan;
    if (plan.how === 'stay') {
      imported.push({ server, secrets: [], why: plan.why });
      continue;
    }
    const secrets = Object.keys(plan.secrets);
    try {
      if (!done.has(plan.name)) {
        kept.bring(client.name, { upstreams: [plan.name], secrets });
        await addUpstream(plan, step, context);
      }
      done.add(plan.name);
      imported.push({ server, upstream: plan.name, secrets });
    } catch (error) {
      if (!(error instanceof StepFailed) && !(error instanceof CommandFailure)) throw error;
      imported.push({ server, secrets: [], why: error.message });
    }
  }
  return imported;
}

async function addUpstream({ name, input, secrets, package: launched }: Import, step: Step, context: CommandContext) {
  for (const [secret, value] of Object.entries(secrets)) await step('secrets.set', { name: secret, value }, 'agreed');
  if (launched === undefined) {
    await step('upstreams.add', { name, ...input, ...readableFiles(input) }, 'agreed');
    return;
  }
  await using opened = await openPackage(launched, { secrets: Object.keys(secrets) }, context);
  const asked = { name, ...input, ...opened.grants, package: await opened.upload() };
  await step('upstreams.add', asked, 'agreed');
}

/** A script that the command names has to be seen by the server. */
export function readableFiles({ command }: Import['input']): { readonly read?: readonly string[] } {
  const [, ...args] = Array.isArray(command) ? (command as readonly string[]) : [];
  const files = args.filter((word) => word.startsWith('/') && existsSync(word));
  return files.length === 0 ? {} : { read: files };
}
