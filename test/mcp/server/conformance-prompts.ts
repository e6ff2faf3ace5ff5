import { acceptedContent, inputRequired } from '@modelcontextprotocol/server';
import { image } from './conformance-tools.ts';
import { askFor } from './conformance-questions.ts';
import type { Server } from './conformance-server.ts';

interface Prompt {
  readonly arguments?: readonly string[];
  readonly messages: (args: Readonly<Record<string, string>>) => readonly object[];
}

const say = (text: string): object => ({ type: 'text', text });

const prompts: ReadonlyMap<string, Prompt> = new Map<string, Prompt>([
  ['test_simple_prompt', { messages: () => [say('This is a simple prompt for testing.')] }],
  [
    'test_prompt_with_arguments',
    {
      arguments: ['arg1', 'arg2'],
      messages: ({ arg1, arg2 }) => [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    },
  ],
  [
    'test_prompt_with_embedded_resource',
    {
      arguments: ['resourceUri'],
      messages: ({ resourceUri }) => [
        {
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        },
        say('Please process the embedded resource above.'),
      ],
    },
  ],
  [
    'test_prompt_with_image',
    {
      messages: () => [{ type: 'image', data: image, mimeType: 'image/png' }, say('Please analyze the image above.')],
    },
  ],
]);

const asking = 'test_input_required_result_prompt';

export function addPrompts(server: Server): void {
  server.setRequestHandler('prompts/list', () => ({
    prompts: [...prompts.keys(), asking].map((name) => ({
      name,
      description: `The prompt ${name}.`,
      arguments: (prompts.get(name)?.arguments ?? []).map((each) => ({ name: each, required: true })),
    })),
  }));
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq }) => {
    if (params.name === asking) {
      const accepted = acceptedContent(mcpReq.inputResponses, 'user_context');
      if (accepted === undefined) {
        const question = askFor('What context should the prompt use?', { context: { type: 'string' } });
        return inputRequired({ inputRequests: { user_context: question } });
      }
      return toResult([say(`Use ${String(accepted['context'])}.`)]);
    }
    const prompt = prompts.get(params.name);
    if (prompt === undefined) throw new Error('There is no such prompt.');
    return toResult(prompt.messages(params.arguments ?? {}));
  });
}

function toResult(contents: readonly object[]): never {
  return { messages: contents.map((content) => ({ role: 'user', content })) } as never;
}
