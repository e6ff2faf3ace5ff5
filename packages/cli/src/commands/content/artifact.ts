import { spellBytes } from '@sallyport/contract';
import type { Artifact, ArtifactList, InJson } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { list, required, text, word } from '../../command-table.ts';
import { toolCommand } from '../../client/run-tool.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { printFields, printTable } from '../../terminal/table.ts';

export const artifactCommands = [
  toolCommand('list', {
    help: 'list the artifacts, newest first',
    options: { category: text('name', 'only this category') },
    tool: 'artifacts.list',
    print: ({ artifacts, total }: InJson<ArtifactList>, { terminal }) => {
      if (artifacts.length === 0) return terminal.print('No artifact has been published.');
      const rows = artifacts.map(({ artifactId, category, size, agent, publishedAtMs, contentHash }) => [
        ...[artifactId, category, spellBytes(Number(size))],
        ...[agent, formatTime(Number(publishedAtMs)), contentHash],
      ]);
      printTable(terminal, ['ARTIFACT', 'CATEGORY', 'SIZE', 'AGENT', 'PUBLISHED', 'CONTENT'], rows);
      if (total > artifacts.length) terminal.note(`${total - artifacts.length} older ones are not shown.`);
    },
  }),
  toolCommand('show', {
    help: 'show one artifact',
    arguments: { artifactId: word('artifact-id') },
    tool: 'artifacts.get',
    print: printArtifact,
  }),
  toolCommand('publish', {
    help: 'publish stored content under an id of its own, for good',
    arguments: { artifactId: word('artifact-id'), contentHash: word('hash') },
    options: {
      category: required(text('name', 'what it is, such as test_results')),
      metadata: list('pairs', 'details, key=value each'),
    },
    tool: 'artifacts.publish',
    print: (artifact: InJson<Artifact>, context) => {
      context.terminal.print('Published for good.', '');
      printArtifact(artifact, context);
    },
  }),
];

function printArtifact(artifact: InJson<Artifact>, { terminal }: CommandContext): void {
  printFields(terminal, [
    ['artifact', artifact.artifactId],
    ['category', artifact.category],
    ['content', artifact.contentHash],
    ['size', spellBytes(Number(artifact.size))],
    ['agent', artifact.agent],
    ['session', artifact.sessionId],
    ['published', formatTime(Number(artifact.publishedAtMs))],
    ...artifact.metadata.map((entry, at): [string, string] => [at === 0 ? 'metadata' : '', entry]),
  ]);
}
