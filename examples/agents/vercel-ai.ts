// An agent of the Vercel AI SDK whose tools stand behind the gate: two lines more than without it.
import { governTools } from '@sallyport/sdk/ai';
import { generateText, stepCountIs, tool } from 'ai';
import type { LanguageModel } from 'ai';
import { z } from 'zod';

const tools = {
  lookUpOrder: tool({
    description: 'Looks an order up.',
    inputSchema: z.object({ id: z.string() }),
    execute: async ({ id }) => ({ id, total: 42 }),
  }),
  refundOrder: tool({
    description: 'Pays the price of an order back.',
    inputSchema: z.object({ id: z.string() }),
    execute: async ({ id }) => ({ id, refunded: true }),
  }),
};

export interface Gate {
  readonly address: string;
  readonly token: string;
  readonly cwd: string;
}

export async function answer(question: string, model: LanguageModel, gate: Gate): Promise<string> {
  const { text } = await generateText({
    model,
    prompt: question,
    // Each call asks the gate, waits for a person where one must agree, and is on record.
    tools: governTools(tools, gate),
    stopWhen: stepCountIs(5),
  });
  return text;
}
