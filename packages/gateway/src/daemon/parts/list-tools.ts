import { artifactTools } from '../../artifacts/tools.ts';
import type { AnyTool } from '../../call/tool.ts';
import { callTools } from '../../calls/tools.ts';
import { codeTools } from '../../catalogue/code/index.ts';
import { Databases } from '../../catalogue/data/databases.ts';
import { databaseTools } from '../../catalogue/data/index.ts';
import { desktopTools } from '../../catalogue/desktop/index.ts';
import { filesWrite } from '../../catalogue/files/files-write.ts';
import { fileTools } from '../../catalogue/files/index.ts';
import { gitTools } from '../../catalogue/git/index.ts';
import { inferenceTools } from '../../catalogue/inference/index.ts';
import { selfTools } from '../../catalogue/self/index.ts';
import { shellTools } from '../../catalogue/shell/index.ts';
import { systemTools } from '../../catalogue/system/index.ts';
import { webTools } from '../../catalogue/web/index.ts';
import { clientOperatorTools } from '../../clients/tools.ts';
import { consoleLink } from '../../console/console-link.ts';
import type { LoginCodes } from '../../console/login-codes.ts';
import { contentTools } from '../../content/tools/index.ts';
import { peopleTools } from '../../organisation/tools/people.ts';
import { policyTools } from '../../policy/tools/policy-tools.ts';
import { secretTools } from '../../secrets/tools.ts';
import { leaseTools } from '../../sessions/tools/leases.ts';
import { sessionTools } from '../../sessions/tools/sessions.ts';
import { gitUndo } from '../../undo/tools/git-undo.ts';
import { undoTools } from '../../undo/tools/index.ts';
import { whyTool } from '../../undo/tools/why/why-tool.ts';
import { usableFolder, workspaceTools } from '../../workspaces/tools.ts';
import { describeSelf } from '../health/describe-self.ts';
import type { DaemonParts } from './daemon-parts.ts';
import { callbackSecret } from './open-approvals.ts';
import type { Json } from '@sallyport/contract';

/** Every tool that the daemon brings: for agents first, then for operators. */
export function listTools(parts: DaemonParts, codes: LoginCodes): readonly AnyTool[] {
  return [...toolsForAgents(parts), ...toolsForOperators(parts, codes)];
}

function toolsForAgents(parts: DaemonParts): readonly AnyTool[] {
  const { config, home, store, executor, workspace, currentRules, address, warnings, remote } = parts;
  return [
    ...fileTools(),
    ...shellTools(),
    ...gitTools(),
    ...systemTools(),
    ...webTools(remote),
    ...inferenceTools(remote),
    ...codeTools(),
    ...selfTools(describeSelf({ config, store, executor, workspace, rules: currentRules, address, warnings })),
    ...databaseTools({
      databases: new Databases({ file: home.databasesFile, workspace }),
      readSecret: (name) => {
        const grant = { name, tools: ['*'], hosts: [] };
        return parts.secrets.secretsFor([grant], { tool: 'gate' }).get(name) ?? '';
      },
    }),
    ...desktopTools(process.env),
    ...contentTools({ store: parts.content, index: store, uploads: parts.uploads, downloads: parts.downloads }),
    ...artifactTools({ store: parts.content, index: store }),
  ];
}

function toolsForOperators(parts: DaemonParts, codes: LoginCodes): readonly AnyTool[] {
  const { store, registry, index, folders, workspace, workspaces, applied, redactor, log, address, endSession } = parts;
  const { approvals, modes, organisation, anomalies, erasures, secrets } = parts;
  const { running } = modes;
  return [
    ...approvals.tools,
    ...policyTools({
      ...{ rules: applied, registry, store, index, workspace, workspaceOf: workspaces.of },
      onApplied: () => void onRulesApplied(parts),
    }),
    // Their results are full of what others wrote, and a person who accepts it has to see all but what the gate holds.
    ...[...parts.toolsFolder.administration, ...parts.upstreams.administration].map((tool) =>
      hideInResults(tool, redactor.hideHeldIn),
    ),
    ...sessionTools(store, {
      places: {
        own: workspace,
        findRoot: (folder) => workspaces.findRoot(folder),
        resolve: (folder) => usableFolder(folder, folders),
      },
      endSession,
      callbackSecret: (id) => callbackSecret(secrets, id),
    }),
    ...workspaceTools({
      ...{ book: workspaces, store, folders, endSession },
      onChanged: () => {
        approvals.onRulesApplied().catch((error: unknown) => log.error('approvals_not_told', { error }));
        parts.dropWaiting();
      },
    }),
    ...leaseTools(store),
    ...peopleTools(store, { workspace, endSession, address }),
    ...callTools(running),
    whyTool({ journal: store, records: store }),
    ...clientOperatorTools({ store, redact: redactor.redactText }),
    ...undoTools({
      journal: store,
      sessions: store,
      // In every mode: what was changed before it came must be put back in it. The operator who undoes has agreed.
      writingIn: (session, operator, gitOperation) =>
        parts.rulesFor(session)?.judgePaths({
          ...{ principal: 'operator', agent: operator, mode: 'NORMAL', consented: true, nowMs: Date.now() },
          ...(gitOperation === undefined
            ? { tool: filesWrite.definition }
            : { tool: gitUndo(store).definition, resources: { paths: [], gitOperation } }),
        }),
      isRunning: (callId) => running.list().some((call) => call.callId === callId),
    }),
    ...modes.tools,
    ...anomalies.tools,
    ...organisation.tools,
    ...erasures.tools,
    ...secretTools(secrets),
    consoleLink({ codes, address }),
  ];
}

/** Tells those who work by the rules that there are others now. */
async function onRulesApplied({
  erasures,
  approvals,
  store,
  applied,
  executor,
  toolsFolder,
}: DaemonParts): Promise<void> {
  erasures.wake();
  await approvals.onRulesApplied();
  // A copy that is one ahead of this is what a crash leaves, and good.
  await store.noteRulesSequence(applied.sequence).catch(() => undefined);
  await executor.programs.dropWarm();
  await toolsFolder.installed.refresh();
}

/** The same tool, with something taken out of whatever it returns. */
function hideInResults(tool: AnyTool, hide: (result: Json) => Json): AnyTool {
  return { ...tool, run: async (args, context) => hide(await tool.run(args, context)) };
}
