import {
  AuthorizationServerMismatchError,
  InsecureTokenEndpointError,
  IssuerMismatchError,
  OAuthError,
  RegistrationRejectedError,
} from '@modelcontextprotocol/client';
import { ToolFailure } from '../../call/tool.ts';
import { makeVisible, wholeText } from '@sallyport/contract';
import { LoginHostRefused } from './login-fetch.ts';

const longestText = 300;

/**
 * Why a login did not succeed, for the person who tried. What authorization servers write into errors is left out
 * except for the code: they know tokens and codes, and might repeat them.
 */
export function describeLoginTrouble(upstream: string, error: unknown): ToolFailure {
  if (error instanceof ToolFailure) return error;
  const [text, remedy = ''] = explain(error);
  const said = `The login at the upstream server ${upstream} did not succeed: ${text}. ${remedy}`.trim();
  return new ToolFailure('UPSTREAM_UNAVAILABLE', makeVisible(said), { cause: error });
}

/** Only its code, and only if it is one. */
export function codeOf({ code }: OAuthError): string {
  return /^[a-z_]{1,50}$/.test(code) ? code : 'an error without a name';
}

function explain(error: unknown): readonly [text: string, remedy?: string] {
  if (error instanceof LoginHostRefused) {
    const { authority } = error;
    return [
      `it leads to ${authority}, which is not public or not reached over https`,
      `If that is your own authorization server, name it in the file of the upstream: oauth: { hosts: ['${authority}'] }`,
    ];
  }
  if (error instanceof OAuthError) return [`the authorization server answered ${codeOf(error)}`];
  if (error instanceof RegistrationRejectedError) {
    return [
      `the authorization server did not accept the gate as a client (${error.status})`,
      'Register one there by hand, and name its client_id under oauth in the file of the upstream.',
    ];
  }
  if (error instanceof IssuerMismatchError) {
    return error.kind === 'metadata'
      ? ['the authorization server uses another name than the upstream server says']
      : ['the answer did not come from the authorization server that was asked'];
  }
  if (error instanceof AuthorizationServerMismatchError) {
    return ['the authorization server is not the one that the credentials of the gate belong to'];
  }
  if (error instanceof InsecureTokenEndpointError) return ['tokens would be sent without https'];
  // It would quote what was sent.
  if (error instanceof SyntaxError) return ['an answer was not JSON'];
  if (error instanceof Error && error.name === 'ZodError') return ['an answer does not follow the protocol'];
  if (error instanceof Error && /dynamic client registration/.test(error.message)) {
    return [
      'the authorization server does not let clients register themselves',
      'Register one there by hand, and name its client_id under oauth in the file of the upstream.',
    ];
  }
  return [wholeText(error instanceof Error ? error.message : String(error), longestText)];
}
