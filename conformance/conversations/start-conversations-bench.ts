import { join } from 'node:path';

import OpenAI from 'openai';

import { createConversations } from '../../src/conversations/create-conversations.ts';
import type { Conversations, StoredResponse } from '../../src/conversations/response-store.ts';
import { loadProofKey } from '../../src/gateway/endpoints/chat/proofs/load-proof-key.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.ts';
import { eventually } from '../support/http.ts';
import {
  type SimulatedProgram,
  type SimulatedWeir,
  startSimulatedGateway,
  startSimulatedProgram,
  type StartSimulatedProgramOptions,
  type StartSimulatedWeirOptions,
} from '../support/start-simulated-weir.ts';
import { commandOutput } from '../programs/run-command.ts';

/** A running Weir, and its store, into which a test writes the objects that it then requests. */
export type ConversationsBench<Simulated extends SimulatedWeir = SimulatedWeir> = Simulated & {
  readonly stored: Conversations;
  /** Runs `weir keys …` and returns its output. */
  readonly keys: (...words: readonly string[]) => Promise<string>;
  /** Creates a key, waits until the gateway knows it, and returns its secret. */
  readonly createKey: (user: string, name: string, ...options: readonly string[]) => Promise<string>;
  readonly client: (apiKey: string) => OpenAI;
};

export async function startConversationsBench(options: StartSimulatedWeirOptions = {}): Promise<ConversationsBench> {
  return await equip(await startSimulatedGateway(options));
}

/** With the gateway in processes of its own. */
export async function startConversationsProgram(options: StartSimulatedProgramOptions = {}): Promise<ConversationsBench<SimulatedProgram>> {
  return await equip(await startSimulatedProgram({ ...options, weir: { command: 'gateway', ...options.weir } }));
}

async function equip<Simulated extends SimulatedWeir>(running: Simulated): Promise<ConversationsBench<Simulated>> {
  const { dataDirectory, gatewayUrl } = running.weir;
  const store = await openSqliteStore({ path: join(dataDirectory, 'weir.sqlite') });
  const key = loadProofKey({ path: join(dataDirectory, 'proof-vault.key') });
  const client = (apiKey: string): OpenAI => new OpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey, maxRetries: 0 });
  const keys = (...words: readonly string[]): Promise<string> => commandOutput(['keys', ...words], { WEIR_DATA_DIR: dataDirectory });
  return {
    ...running,
    stored: createConversations({ store, key, clock: systemClock }),
    keys,
    createKey: async (user, name, ...more) => {
      const secret = await keys('create', '--user', user, '--name', name, ...more);
      const list = () => client(secret).models.list();
      await eventually(
        () => list().catch(() => undefined),
        (found) => found !== undefined,
      );
      return secret;
    },
    client,
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await running[Symbol.asyncDispose]();
    },
  };
}

/** A finished response of a user, with every kind of item that `include` affects. */
export function createStoredResponse(id: string, userName: string, changes: Partial<StoredResponse> = {}): StoredResponse {
  const image = { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,aGlkZGVu' };
  return {
    id,
    userName,
    keyId: 'key',
    createdAtMs: Date.UTC(2026, 0, 5),
    expiresAtMs: Date.UTC(2999, 0, 1),
    status: 'completed',
    input: [
      {
        id: `msg_${id}_in`,
        type: 'message',
        role: 'user',
        status: 'completed',
        content: [{ type: 'input_text', text: `ask ${id}` }, image],
      },
      {
        id: `cuo_${id}`,
        type: 'computer_call_output',
        call_id: 'call_1',
        output: { type: 'computer_screenshot', image_url: 'data:hidden' },
      },
    ],
    response: {
      id,
      object: 'response',
      created_at: 1_767_571_200,
      status: 'completed',
      error: null,
      incomplete_details: null,
      instructions: null,
      model: 'm',
      output: [
        { id: `rs_${id}`, type: 'reasoning', summary: [], encrypted_content: 'hidden' },
        { id: `fs_${id}`, type: 'file_search_call', status: 'completed', queries: ['q'], results: [{ file_id: 'f', text: 'hidden' }] },
        {
          id: `ci_${id}`,
          type: 'code_interpreter_call',
          status: 'completed',
          code: '1',
          container_id: 'c',
          outputs: [{ type: 'logs', logs: 'hidden' }],
        },
        {
          id: `ws_${id}`,
          type: 'web_search_call',
          status: 'completed',
          action: { type: 'search', query: 'q', sources: [{ type: 'url', url: 'hidden' }] },
        },
        {
          id: `msg_${id}_out`,
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', annotations: [], logprobs: [{ token: 'hidden' }], text: `answer ${id}` }],
        },
      ],
      parallel_tool_calls: true,
      previous_response_id: null,
      tools: [],
      tool_choice: 'auto',
      usage: null,
      metadata: {},
    },
    ...changes,
  };
}
