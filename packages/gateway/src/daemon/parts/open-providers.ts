import type { InferenceParts } from '../../catalogue/inference/inference-call.ts';
import { ProviderBook } from '../../catalogue/providers/provider-book.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { SecretStore } from '../../secrets/secret-store.ts';
import type { Store } from '../../storage/stores.ts';

export interface ProviderSources {
  /** Where providers.yaml is now. */
  readonly findFolder: () => string;
  readonly secrets: Pick<SecretStore, 'secretsFor'>;
  readonly redactor: Pick<Redactor, 'hideHeld'>;
  readonly store: Pick<Store, 'readSession'>;
  /** As in `WayOut`. */
  readonly isTraced: (authority: string) => boolean;
}

/** What the tools work with that use services elsewhere. A key is handed out for requests to the host of its provider. */
export function openProviders({ findFolder, secrets, redactor, store, isTraced }: ProviderSources): InferenceParts {
  return {
    providers: new ProviderBook(findFolder),
    readKey: (name, use) => secrets.secretsFor([{ name, tools: [use.tool], hosts: [use.host] }], use).get(name) ?? '',
    hide: redactor.hideHeld,
    wayOut: { isTraced },
    readSession: (id) => store.readSession(id),
  };
}
