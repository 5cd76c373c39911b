import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

import { eventually } from '../support/http.ts';
import { startSimulatedGateway, type SimulatedWeir } from '../support/start-simulated-weir.ts';
import { commandOutput } from '../programs/run-command.ts';

/**
 * State that an upstream stores for one tenant is unknown to another, although both use the operator's one credential.
 */
describe('stored state belongs to the tenant that made it', () => {
  let running: SimulatedWeir;
  let strangerKey: string;
  const openai = (apiKey: string): OpenAI => new OpenAI({ baseURL: `${running.weir.gatewayUrl}/v1`, apiKey, maxRetries: 0 });
  const anthropic = (apiKey: string): Anthropic => new Anthropic({ baseURL: running.weir.gatewayUrl, apiKey, maxRetries: 0 });
  before(async () => {
    running = await startSimulatedGateway();
    const stdout = await commandOutput(['keys', 'create', '--user', 'stranger', '--name', 'key'], {
      WEIR_DATA_DIR: running.weir.dataDirectory,
    });
    strangerKey = stdout;
    const list = () => openai(strangerKey).models.list();
    await eventually(
      () => list().catch(() => undefined),
      (found) => found !== undefined,
    );
  });
  after(() => running[Symbol.asyncDispose]());

  test('F85: a response cannot be continued by another user', async () => {
    const model = 'gpt-4.1';
    const mine = await openai(running.weir.apiKey).responses.create({ model, input: 'My secret is 4711.' });
    const theirs = openai(strangerKey).responses.create({ model, input: 'What is the secret?', previous_response_id: mine.id });
    await assert.rejects(theirs, (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.equal(error.code, 'previous_response_not_found');
      return true;
    });
  });

  test('a thread cannot be continued by another user', async () => {
    const fields = { model: 'claude-sonnet-5', max_tokens: 500, betas: ['message-threads-2026-08-12' as const] };
    const mine = await anthropic(running.weir.apiKey).beta.messages.create({
      ...fields,
      thread: { type: 'create' },
      messages: [{ role: 'user', content: 'My secret is 4711.' }],
    });
    const theirs = anthropic(strangerKey).beta.messages.create({
      ...fields,
      thread: { type: 'continue', previous_message_id: mine.id },
      messages: [{ role: 'user', content: 'What is the secret?' }],
    });
    await assert.rejects(theirs, (error) => {
      assert.ok(error instanceof Anthropic.BadRequestError);
      assert.equal(error.errorCode, 'thread_not_found');
      return true;
    });
  });
});
