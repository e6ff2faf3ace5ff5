import { discoverOAuthServerInfo, refreshAuthorization, selectResourceURL } from '@modelcontextprotocol/client';
import type {
  AddClientAuthentication,
  FetchLike,
  OAuthClientProvider,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';

export interface RefreshOptions {
  readonly url: URL;
  readonly fetch: FetchLike;
  readonly client: StoredOAuthClientInformation;
  readonly refreshToken: string;
  /** The server that gave the token, and the only one that may see it again. */
  readonly issuer: string | undefined;
  readonly resourceMetadataUrl: URL | undefined;
  readonly addClientAuthentication: AddClientAuthentication | undefined;
}

/**
 * A new token for an old one. The metadata is read again, because the server may have another authorization server now:
 * then it returns undefined and sends nothing there. Throws OAuthError if the authorization server refuses.
 */
export async function refreshTokens(options: RefreshOptions): Promise<StoredOAuthTokens | undefined> {
  const { url, fetch, client, refreshToken, issuer: former, resourceMetadataUrl, addClientAuthentication } = options;
  const info = await discoverOAuthServerInfo(url, {
    fetchFn: fetch,
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  });
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = info;
  if (metadata === undefined) throw new Error('the authorization server publishes no metadata');
  const { issuer } = metadata;
  if (issuer !== former) return undefined;
  // Throws when the metadata is about another resource. What is sent is the text of the metadata, not another spelling.
  await selectResourceURL(url, {} as OAuthClientProvider, resourceMetadata);
  const tokens = await refreshAuthorization(authorizationServerUrl, {
    clientInformation: client,
    refreshToken,
    fetchFn: fetch,
    metadata,
    ...(resourceMetadata === undefined ? {} : { resource: resourceMetadata.resource }),
    ...(addClientAuthentication === undefined ? {} : { addClientAuthentication }),
  });
  return { ...tokens, issuer };
}
