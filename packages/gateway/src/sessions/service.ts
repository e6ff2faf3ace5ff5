import { create } from '@bufbuild/protobuf';
import {
  CreateSessionResponseSchema,
  GetSessionResponseSchema,
  ListSessionsResponseSchema,
  SessionSchema,
  SessionService,
  TerminateSessionResponseSchema,
} from '@sallyport/contract';
import type { JsonObject, Session } from '@sallyport/contract';
import {
  budgetArguments,
  expiryArguments,
  objectsOf,
  optionalTime,
  readBudget,
  readLease,
  readSpending,
  scopeArguments,
  textOf,
  textsOf,
  timeOf,
} from './service-messages.ts';
import { bindService } from '../doors/transport/service-binding.ts';
import type { ServiceBinding } from '../doors/transport/service-binding.ts';
import { submitTool } from '../doors/submit-tool.ts';
import type { Submit } from '../call/submission.ts';

/** Sessions for programs of operators: each method is the governed call of a tool, in typed words. */
export function sessionService({ submit }: { readonly submit: Submit }): ServiceBinding {
  return bindService(SessionService, ['operator-socket'], {
    createSession: async (request, peer) => {
      const { agent, scope, expiresInMinutes, budget, workspace, workingDirectory, callbackUrl, call } = request;
      const args = {
        agent,
        ...scopeArguments(scope),
        ...expiryArguments(expiresInMinutes),
        ...budgetArguments(budget),
        ...(workspace === '' ? {} : { workspace }),
        ...(workingDirectory === '' ? {} : { working_directory: workingDirectory }),
        ...(callbackUrl === '' ? {} : { callback_url: callbackUrl }),
      };
      const { output, receipt } = await submitTool(submit, 'sessions.create', args, call, peer);
      return create(CreateSessionResponseSchema, {
        sessionId: textOf(output['session_id']),
        agent: textOf(output['agent']),
        token: textOf(output['token']),
        ...optionalTime('expiresAtMs', output['expires_at']),
        callbackSecret: textOf(output['callback_secret']),
        call: receipt,
      });
    },

    listSessions: async ({ includeEnded, call }, peer) => {
      const { output, receipt } = await submitTool(
        submit,
        'sessions.list',
        { include_ended: includeEnded },
        call,
        peer,
      );
      const sessions = objectsOf(output['sessions']).map(readSession);
      return create(ListSessionsResponseSchema, { sessions, call: receipt });
    },

    getSession: async ({ sessionId, call }, peer) => {
      const { output, receipt } = await submitTool(submit, 'sessions.show', { session_id: sessionId }, call, peer);
      const lease = readLease(output['lease'] as JsonObject);
      return create(GetSessionResponseSchema, { session: readSession(output), lease, call: receipt });
    },

    terminateSession: async ({ sessionId, call }, peer) => {
      const { output, receipt } = await submitTool(submit, 'sessions.end', { session_id: sessionId }, call, peer);
      return create(TerminateSessionResponseSchema, {
        sessionId: textOf(output['session_id']),
        ended: output['ended'] === true,
        call: receipt,
      });
    },
  });
}

function readSession(described: JsonObject): Session {
  return create(SessionSchema, {
    sessionId: textOf(described['session_id']),
    agent: textOf(described['agent']),
    principal: textOf(described['principal']),
    status: textOf(described['status']),
    createdAtMs: timeOf(described['created_at']) ?? 0n,
    ...optionalTime('expiresAtMs', described['expires_at']),
    budget: readBudget(described),
    spent: readSpending(described),
    tools: textsOf(described['tools']),
    workspace: textOf(described['workspace']),
    workingDirectory: textOf(described['working_directory']),
    callbackUrl: textOf(described['callback_url']),
  });
}
