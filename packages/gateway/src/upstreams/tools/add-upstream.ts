import { UpstreamSchema } from '@sallyport/contract';
import { contentHashPattern } from '../../content/content-hash.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import { describeUpstream } from './describe-upstream.ts';
import { findUpstream, named } from './upstream-parts.ts';
import type { UpstreamToolParts } from './upstream-parts.ts';
import * as schema from '../../registry/schemas/schema.ts';

const texts = (description: string) => schema.array(description, { type: 'string' }, { maxItems: 200 });

const properties = {
  ...named.properties,
  command: texts('Program and arguments. The program is absolute, a name in /usr/bin, or node.'),
  package: schema.string(
    'Instead of a command: content hash of the bundle of an npm package, which is pinned as it is.',
    { pattern: contentHashPattern },
  ),
  arguments: texts('What the program of the package is started with.'),
  read: texts('Absolute files and folders that the server may read.'),
  write: texts('Absolute files and folders that the server may change.'),
  hosts: texts('Hosts that the server may reach.'),
  environment: { type: 'object', additionalProperties: { type: 'string' }, description: 'Its variables.' },
  secrets: texts('Stored secrets that it gets as variables of the same names.'),
  unix_sockets: schema.boolean('Whether it may use unix sockets, also those of other programs in the folders it sees.'),
  url: schema.string('Where a server that runs elsewhere is reached.', { maxLength: 2000 }),
  bearer_secret: schema.string('Stored secret that is sent as bearer token.', { maxLength: 100 }),
  secret_headers: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Stored secrets by the header that each is sent as, such as X-API-Key.',
  },
  oauth: {
    type: 'object',
    description: 'How the gate logs in there, as in the file: issuer, client_id and so on.',
  },
  may_ask: texts('What the server may ask for while it works, if a rule allows it: elicitation, sampling, roots.'),
} as const;
type AddArguments = schema.ValuesOf<typeof properties, 'name'>;

/** Writes the file of a new upstream and begins to connect to it. */
export function addTool(parts: UpstreamToolParts) {
  const { installed, files, packages, reload } = parts;
  return defineOperatorTool({
    name: 'upstreams.add',
    description: 'Adds an upstream server: a command or a package to start in the sandbox, or a URL to reach.',
    mutates: true,
    // A package can have thousands of files.
    timeoutMs: 60_000,
    properties,
    required: ['name'],
    answers: UpstreamSchema,
    preview: ({ name, package: bundle, ...given }) => {
      const { arguments: args = [], ...rest } = given;
      const command = ['node', `(the package in the content ${bundle})`, ...args];
      const shown = bundle === undefined ? given : { ...rest, command };
      return { summary: `Add the upstream ${name}.`, detail: files.check(name, layOut(shown)) };
    },
    run: async ({ name, package: bundle, ...given }, { content }) => {
      const pinned = bundle === undefined ? undefined : await packages.keep(content.read(bundle));
      try {
        await files.write(name, files.check(name, { ...(pinned && { package: pinned }), ...layOut(given) }));
      } catch (error) {
        if (pinned !== undefined && !files.mentions(pinned)) await packages.drop(pinned);
        throw error;
      }
      await reload();
      return describeUpstream(findUpstream(parts, name), installed);
    },
    summarize: ({ name }) => `added ${name}`,
  });
}

/** The content of the file. Empty lists are left out. */
function layOut({
  read = [],
  write = [],
  hosts = [],
  secrets = [],
  ...rest
}: Omit<AddArguments, 'name' | 'package'>): object {
  const paths = { ...(read.length > 0 && { read }), ...(write.length > 0 && { write }) };
  return {
    ...rest,
    ...(Object.keys(paths).length > 0 && { paths }),
    ...(hosts.length > 0 && { hosts }),
    ...(secrets.length > 0 && { secrets }),
  };
}
