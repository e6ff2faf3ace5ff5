import { spellBytes } from '@sallyport/contract';
import type { Artifact, ArtifactList, InJson } from '@sallyport/contract';
import type { CommandContext } from '../../command-context.ts';
import { formatTime } from '../../terminal/format-time.ts';
import { runTool } from '../../client/run-tool.ts';
import { renderFields, renderTable } from '../../terminal/table.ts';
import { makeVisibleLine } from '../../terminal/visible-text.ts';

export interface PublishOptions {
  readonly category: string;
  readonly metadata?: readonly string[];
}

export function listArtifacts({ category }: { readonly category?: string }, context: CommandContext): Promise<number> {
  return runTool<InJson<ArtifactList>>('artifacts.list', { category }, context, ({ artifacts, total }) => {
    const { columns, paint, print, note } = context.terminal;
    if (artifacts.length === 0) {
      print('No artifact has been published.');
      return;
    }
    const rows = artifacts.map((artifact) =>
      [
        artifact.artifactId,
        artifact.category,
        spellBytes(Number(artifact.size)),
        artifact.agent,
        formatTime(Number(artifact.publishedAtMs)),
        artifact.contentHash,
      ].map(makeVisibleLine),
    );
    const [header = '', ...body] = renderTable(
      [['ARTIFACT', 'CATEGORY', 'SIZE', 'AGENT', 'PUBLISHED', 'CONTENT'], ...rows],
      columns,
    );
    print(paint('dim', header), ...body);
    if (total > artifacts.length) note(`${total - artifacts.length} older ones are not shown.`);
  });
}

export function showArtifact(id: string, context: CommandContext): Promise<number> {
  return runTool<InJson<Artifact>>('artifacts.get', { artifact_id: id }, context, (artifact) =>
    printArtifact(artifact, context),
  );
}

export function publishArtifact(
  id: string,
  hash: string,
  { category, metadata = [] }: PublishOptions,
  context: CommandContext,
): Promise<number> {
  const input = { artifact_id: id, content_hash: hash, category, metadata };
  return runTool<InJson<Artifact>>('artifacts.publish', input, context, (artifact) => {
    context.terminal.print('Published for good.', '');
    printArtifact(artifact, context);
  });
}

function printArtifact(artifact: InJson<Artifact>, { terminal }: CommandContext): void {
  const fields: readonly (readonly [string, string])[] = [
    ['artifact', artifact.artifactId],
    ['category', artifact.category],
    ['content', artifact.contentHash],
    ['size', spellBytes(Number(artifact.size))],
    ['agent', artifact.agent],
    ['session', artifact.sessionId],
    ['published', formatTime(Number(artifact.publishedAtMs))],
    ...artifact.metadata.map((entry, at): [string, string] => [at === 0 ? 'metadata' : '', entry]),
  ];
  terminal.print(
    ...renderFields(
      fields.map(([label, value]) => [label, makeVisibleLine(value)]),
      terminal.columns,
    ),
  );
}
