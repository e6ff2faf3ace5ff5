import { cloudCredentials } from './cloud-credentials.ts';
import { codeCredentials } from './code-credentials.ts';
import type { CredentialPattern } from './credential-pattern.ts';
import { credentialsInText } from './credentials-in-text.ts';
import { serviceCredentials } from './service-credentials.ts';

export const credentialPatterns: readonly CredentialPattern[] = [
  ...cloudCredentials,
  ...codeCredentials,
  ...serviceCredentials,
  ...credentialsInText,
];
