import { isJsonObject, textOf } from '@sallyport/contract';
import type { Json, JsonObject } from '@sallyport/contract';
import type { ProviderRequest } from '../providers/ask-provider.ts';
import type { SearchProvider } from '../providers/provider-settings.ts';

export interface SearchQuery {
  readonly text: string;
  readonly maxResults: number;
}

export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** How one kind of search service is asked and answers. */
export interface SearchKind {
  /** `key`: of services that have one. */
  readonly request: (query: SearchQuery, key: string) => ProviderRequest;
  /** Undefined: the answer has another form. */
  readonly read: (answer: JsonObject) => readonly SearchHit[] | undefined;
}

/** Another service is one more entry here and one in `searchKinds` of the settings. */
export const searchers: Readonly<Record<SearchProvider['kind'], SearchKind>> = {
  searxng: {
    request: ({ text }) => ({
      method: 'GET',
      path: `/search?${queryOf({ q: text, format: 'json' })}`,
      headers: {},
    }),
    read: ({ results }) => readHits(results, 'content'),
  },
  brave: {
    request: ({ text, maxResults }, key) => ({
      method: 'GET',
      path: `/res/v1/web/search?${queryOf({ q: text, count: String(maxResults) })}`,
      headers: { 'x-subscription-token': key },
    }),
    // Without a hit it leaves the part out.
    read: ({ web, type }) =>
      web === undefined && type === 'search'
        ? []
        : isJsonObject(web)
          ? readHits(web['results'], 'description')
          : undefined,
  },
  tavily: {
    request: ({ text, maxResults }, key) => ({
      method: 'POST',
      path: '/search',
      headers: { authorization: `Bearer ${key}` },
      body: { query: text, max_results: maxResults },
    }),
    read: ({ results }) => readHits(results, 'content'),
  },
};

function queryOf(fields: Readonly<Record<string, string>>): string {
  return new URLSearchParams(fields).toString();
}

function readHits(results: Json | undefined, snippetKey: string): readonly SearchHit[] | undefined {
  if (!Array.isArray(results)) return undefined;
  return results.filter(isJsonObject).map((hit) => ({
    title: textOf(hit['title']),
    url: textOf(hit['url']),
    snippet: textOf(hit[snippetKey]),
  }));
}
