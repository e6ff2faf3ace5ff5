import { create } from '@bufbuild/protobuf';
import {
  GrantLeaseResponseSchema,
  LeaseService,
  ListLeasesResponseSchema,
  RevokeLeaseResponseSchema,
} from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import { budgetArguments, expiryArguments, objectsOf, readLease, scopeArguments, textOf } from './service-messages.ts';
import { bindService } from '../doors/transport/service-binding.ts';
import type { ServiceBinding } from '../doors/transport/service-binding.ts';
import { submitTool } from '../doors/submit-tool.ts';
import type { Submit } from '../call/submission.ts';

/** Leases for programs of operators: each method is the governed call of a tool, in typed words. */
export function leaseService({ submit }: { readonly submit: Submit }): ServiceBinding {
  return bindService(LeaseService, ['operator-socket'], {
    grantLease: async ({ sessionId, scope, expiresInMinutes, budget, call }, peer) => {
      const args = {
        session_id: sessionId,
        ...scopeArguments(scope),
        ...expiryArguments(expiresInMinutes),
        ...budgetArguments(budget),
      };
      const { output, receipt } = await submitTool(submit, 'leases.grant', args, call, peer);
      return create(GrantLeaseResponseSchema, {
        sessionId: textOf(output['session_id']),
        lease: readLease(output['lease'] as JsonObject),
        call: receipt,
      });
    },

    listLeases: async ({ sessionId, call }, peer) => {
      const { output, receipt } = await submitTool(submit, 'leases.show', { session_id: sessionId }, call, peer);
      const leases = objectsOf(output['leases']).map(readLease);
      return create(ListLeasesResponseSchema, { sessionId: textOf(output['session_id']), leases, call: receipt });
    },

    revokeLease: async ({ sessionId, call }, peer) => {
      const { output, receipt } = await submitTool(submit, 'leases.revoke', { session_id: sessionId }, call, peer);
      return create(RevokeLeaseResponseSchema, {
        sessionId: textOf(output['session_id']),
        revoked: output['revoked'] === true,
        call: receipt,
      });
    },
  });
}
