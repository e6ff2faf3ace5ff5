import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/client';
import type { OAuthClientProvider, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { ToolFailure } from '../../call/tool.ts';
import type { OAuthSettings } from '../upstream-config.ts';

/** The gate logs in as itself. Tokens live as long as the connection; `learn` gets each before it is used. */
export function machineLogin(
  { clientId = '', issuer = '', clientSecret, privateKey, scopes }: OAuthSettings,
  parts: { readonly readSecret: (name: string) => string; readonly learn: (secret: string) => void },
): OAuthClientProvider {
  const common = {
    clientId,
    clientName: 'Sallyport',
    expectedIssuer: issuer,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
  };
  const provider = (): ClientCredentialsProvider | PrivateKeyJwtProvider => {
    if (clientSecret !== undefined) {
      return new ClientCredentialsProvider({ ...common, clientSecret: parts.readSecret(clientSecret) });
    }
    if (privateKey === undefined) throw new ToolFailure('EXECUTION_ERROR', 'The upstream has no client_secret.');
    const { algorithm, secret } = privateKey;
    return new PrivateKeyJwtProvider({ ...common, algorithm, privateKey: parts.readSecret(secret) });
  };
  const made = provider();
  const save = made.saveTokens.bind(made);
  return Object.assign(made, {
    saveTokens: (tokens: StoredOAuthTokens): void => {
      parts.learn(tokens.access_token);
      save(tokens);
    },
  });
}
