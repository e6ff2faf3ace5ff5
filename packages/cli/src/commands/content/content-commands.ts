import { command, file, list, parseHours, parsed, required, text, word } from '../../command-table.ts';

export const contentCommands = [
  command('put', {
    help: 'store a file, or standard input for -, and print its hash',
    arguments: { file: word('file', { completes: 'files' }) },
    run: async (given, context) => (await import('./content.ts')).putContent(given.file, context),
  }),
  command('get', {
    help: 'write content to a file or to a pipe',
    arguments: { hash: word('hash') },
    options: { output: file('file', 'the file to write; an interrupted download continues', { short: 'o' }) },
    run: async ({ hash, ...options }, context) => (await import('./content.ts')).getContent(hash, options, context),
  }),
  command('verify', {
    help: 'read all stored content and report what is damaged',
    run: async (_, context) => (await import('./content.ts')).verifyContent(context),
  }),
  command('gc', {
    help: 'remove content that nothing references and nobody has used for some time',
    options: {
      olderThanHours: parsed('number', 'remove only content that was not used for this long', parseHours),
    },
    run: async (given, context) => (await import('./content.ts')).collectContent(given, context),
  }),
];

export const artifactCommands = [
  command('list', {
    help: 'list the artifacts, newest first',
    options: { category: text('name', 'only this category') },
    run: async (given, context) => (await import('./artifact.ts')).listArtifacts(given, context),
  }),
  command('show', {
    help: 'show one artifact',
    arguments: { id: word('artifact-id') },
    run: async ({ id }, context) => (await import('./artifact.ts')).showArtifact(id, context),
  }),
  command('publish', {
    help: 'publish stored content under an id of its own, for good',
    arguments: { id: word('artifact-id'), hash: word('hash') },
    options: {
      category: required(text('name', 'what it is, such as test_results')),
      metadata: list('pairs', 'details, key=value each'),
    },
    run: async ({ id, hash, ...options }, context) =>
      (await import('./artifact.ts')).publishArtifact(id, hash, options, context),
  }),
];
