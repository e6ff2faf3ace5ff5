import type { Command } from 'commander';
import type { PublishOptions } from './artifact.ts';
import { parseHours } from '../../terminal/option-values.ts';
import type { Run } from '../../program.ts';

type Start = (command: Parameters<Run>[1]) => Promise<void>;

/** `content` and `artifact`. */
export function addContentCommands(program: Command, start: Start): void {
  const content = program.command('content').description('store and read bytes by their hash');
  content
    .command('put <file>')
    .description('store a file, or standard input for -, and print its hash')
    .action((file: string) => start(async (context) => (await import('./content.ts')).putContent(file, context)));
  content
    .command('get <hash>')
    .description('write content to a file or to a pipe')
    .option('-o, --output <file>', 'the file to write; an interrupted download continues')
    .action((hash: string, options: { output?: string }) =>
      start(async (context) => (await import('./content.ts')).getContent(hash, options, context)),
    );
  content
    .command('verify')
    .description('read all stored content and report what is damaged')
    .action(() => start(async (context) => (await import('./content.ts')).verifyContent(context)));
  content
    .command('gc')
    .description('remove content that nothing references and nobody has used for some time')
    .option('--older-than-hours <number>', 'remove only content that was not used for this long', parseHours)
    .action((options: { olderThanHours?: number }) =>
      start(async (context) => (await import('./content.ts')).collectContent(options, context)),
    );

  const artifact = program.command('artifact').description('publish content for good, and see what was published');
  artifact
    .command('list')
    .description('list the artifacts, newest first')
    .option('--category <name>', 'only this category')
    .action((options: { category?: string }) =>
      start(async (context) => (await import('./artifact.ts')).listArtifacts(options, context)),
    );
  artifact
    .command('show <artifact-id>')
    .description('show one artifact')
    .action((id: string) => start(async (context) => (await import('./artifact.ts')).showArtifact(id, context)));
  artifact
    .command('publish <artifact-id> <hash>')
    .description('publish stored content under an id of its own, for good')
    .requiredOption('--category <name>', 'what it is, such as test_results')
    .option('--metadata <pairs...>', 'details, key=value each')
    .action((id: string, hash: string, options: PublishOptions) =>
      start(async (context) => (await import('./artifact.ts')).publishArtifact(id, hash, options, context)),
    );
}
