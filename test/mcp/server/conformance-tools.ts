import { setTimeout } from 'node:timers/promises';
import type { Json } from '../../../packages/contract/src/canonical-json.ts';
import { ToolFailure } from '../../../packages/gateway/src/call/tool.ts';
import type { AnyTool } from '../../../packages/gateway/src/call/tool.ts';
import { defineTestTool } from './test-tools.ts';

/** One red pixel. */
export const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';
/** A WAVE file with one sample. */
const sound = Buffer.from(
  '524946462600000057415645666d74201000000001000100401f0000803e00000200100064617461020000000000',
  'hex',
).toString('base64');

const stepMs = 150;

/** The tools of the suite that are tools like any other: they run behind all gates, as an upstream server's would. */
export function conformanceTools(onTrigger: () => void): readonly AnyTool[] {
  const answer = (name: string, content: readonly Json[]): AnyTool =>
    defineTestTool({ name, origin: 'upstream', run: () => Promise.resolve({ content: [...content] }) });
  const text = (said: string): Json => ({ type: 'text', text: said });
  const picture: Json = { type: 'image', data: image, mimeType: 'image/png' };
  return [
    answer('test_simple_text', [text('This is a simple text response for testing.')]),
    answer('test_image_content', [picture]),
    answer('test_audio_content', [{ type: 'audio', data: sound, mimeType: 'audio/wav' }]),
    answer('test_embedded_resource', [
      resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
    ]),
    answer('test_multiple_content_types', [
      text('Multiple content types test:'),
      picture,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ]),
    answer('test_logging_tool', [text('Nothing was logged.')]),
    defineTestTool({
      name: 'test_error_handling',
      run: () => {
        throw new ToolFailure('EXECUTION_ERROR', 'This tool intentionally returns an error for testing');
      },
    }),
    defineTestTool({
      name: 'test_tool_with_progress',
      run: async (_, { reportProgress }) => {
        for (const done of [0, 50, 100]) {
          reportProgress({ kind: 'step', done, total: 100, message: `${done} of 100` });
          await setTimeout(stepMs);
        }
        return { finished: true };
      },
    }),
    defineTestTool({
      name: 'test_trigger_tool_change',
      run: () => {
        onTrigger();
        return Promise.resolve({ changed: true });
      },
    }),
  ];
}

function resource(uri: string, mimeType: string, text: string): Json {
  return { type: 'resource', resource: { uri, mimeType, text } };
}
