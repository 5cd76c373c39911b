import type { JsonRecord, SimulatedReply } from '../../simulated-vendor.ts';

/** When the filter of a deployment judges text: before it is sent, some time after it, or not at all. */
export type FilterMode = 'default' | 'asynchronous' | 'off';

const categories = ['hate', 'self_harm', 'sexual', 'violence'] as const;
const safe = { filtered: false, severity: 'safe' } as const;
const allSafe: JsonRecord = Object.fromEntries(categories.map((category) => [category, safe]));
const promptSafe: JsonRecord = { ...allSafe, jailbreak: { filtered: false, detected: false } };

const marker = /\[\[azure filter=(hate|self_harm|sexual|violence)\]\]/;

/** The refusal of a prompt that has the marker `[[azure filter=violence]]`. Undefined for all others. */
export function refusePrompt(text: string): JsonRecord | undefined {
  const category = marker.exec(text)?.[1];
  if (category === undefined) return undefined;
  const result: JsonRecord = { ...promptSafe, [category]: { filtered: true, severity: 'medium' } };
  return {
    error: {
      message:
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
      type: null,
      param: 'prompt',
      code: 'content_filter',
      status: 400,
      innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: result },
    },
  };
}

/** Adds the annotations of the filter to a reply of chat completions, as Azure writes them. */
export function annotate(reply: SimulatedReply, mode: FilterMode): SimulatedReply {
  if (mode === 'off') return reply;
  return reply.type === 'stream' ? annotateStream(reply, mode) : annotateWhole(reply);
}

function annotateWhole(reply: Extract<SimulatedReply, { type: 'whole' }>): SimulatedReply {
  const body = JSON.parse(reply.body) as JsonRecord;
  if (!Array.isArray(body['choices'])) return reply;
  const choices = (body['choices'] as JsonRecord[]).map((choice) => ({ ...choice, content_filter_results: resultsOf(choice) }));
  const prompt = [{ prompt_index: 0, content_filter_results: promptSafe }];
  return { ...reply, body: JSON.stringify({ ...body, choices, prompt_filter_results: prompt }) };
}

const resultsOf = (choice: JsonRecord): JsonRecord =>
  choice['finish_reason'] === 'content_filter' ? { ...allSafe, violence: { filtered: true, severity: 'medium' } } : allSafe;

const frame = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;
const nameless = { id: '', object: '', created: 0, model: '' };

/**
 * The first chunk judges the prompt and has no choices. Afterwards each chunk has its verdict, or with the asynchronous
 * filter further chunks without a delta bring the verdicts, also behind the one with the finish reason.
 */
function annotateStream(reply: Extract<SimulatedReply, { type: 'stream' }>, mode: FilterMode): SimulatedReply {
  const frames = [
    frame({
      choices: [],
      created: 0,
      id: '',
      model: '',
      object: '',
      prompt_filter_results: [{ prompt_index: 0, content_filter_results: promptSafe }],
    }),
  ];
  const frameTokens = [0];
  let firstContentFrame = reply.firstContentFrame + 1;
  const add = (text: string, tokens: number): void => {
    frames.push(text);
    frameTokens.push(tokens);
  };
  const verdict = (offset: number): string => {
    const offsets = { check_offset: offset, start_offset: offset, end_offset: offset + 1 };
    return frame({
      ...nameless,
      choices: [{ index: 0, finish_reason: null, content_filter_results: allSafe, content_filter_offsets: offsets }],
    });
  };
  for (const [index, text] of reply.frames.entries()) {
    const tokens = reply.frameTokens[index] ?? 0;
    const isChunk = text.startsWith('data: {');
    const chunk = isChunk ? (JSON.parse(text.slice('data: '.length)) as JsonRecord) : undefined;
    const [choice] = Array.isArray(chunk?.['choices']) ? (chunk['choices'] as JsonRecord[]) : [];
    if (chunk === undefined || choice === undefined) {
      add(text, tokens);
      continue;
    }
    if (mode === 'default') {
      add(
        frame({
          ...chunk,
          choices: [
            { ...choice, content_filter_results: tokens > 0 || choice['finish_reason'] === 'content_filter' ? resultsOf(choice) : {} },
          ],
        }),
        tokens,
      );
      continue;
    }
    if (index === 0) firstContentFrame += 1;
    add(text, tokens);
    if (index === 0 || typeof choice['finish_reason'] === 'string') add(verdict(index), 0);
  }
  return { ...reply, frames, frameTokens, firstContentFrame };
}
