import fc from 'fast-check';

import { anyUnit } from '../../platform/testing/any-unit.ts';
import type { InferenceReply, ReplyPart, StopReason } from '../../inference/inference-reply.ts';
import type {
  FunctionTool,
  InferenceRequest,
  MediaPart,
  OutputFormat,
  Part,
  TextPart,
  ToolChoice,
  ToolResultPart,
  Turn,
} from '../../inference/inference-request.ts';

/**
 * Text of many scripts, without the blank lines that separate joined assistantText, and without blanks at the ends,
 * which vendors strip or refuse.
 */
const words = fc
  .array(fc.oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }), fc.constantFrom('世界', '😀', '"quoted"', '\\', 'naïve')), {
    minLength: 1,
    maxLength: 4,
  })
  .map((pieces) => `w${pieces.join(' ')}.`.replaceAll(/\s+/g, ' '));

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,12}$/);

const jsonObject = fc.dictionary(fc.constantFrom('city', 'count', 'deep', '名'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false } as const;

const textPart: fc.Arbitrary<TextPart> = words.map((text) => ({ kind: 'text', text }));

const inlineImage: MediaPart = {
  kind: 'media',
  media: 'image',
  source: { kind: 'inline', mediaType: 'image/png', data: Buffer.from('no image that anybody looks at').toString('base64') },
};

/** One exchange of a conversation: the user's text, and the assistant's answer, which is text or calls with results. */
type Round = {
  readonly userParts: readonly Part[];
  readonly assistantText: TextPart | undefined;
  readonly calls: readonly { readonly name: string; readonly arguments: string; readonly result: string; readonly isError: boolean }[];
};

const round: fc.Arbitrary<Round> = fc.record({
  userParts: fc.array(fc.oneof({ weight: 5, arbitrary: textPart }, { weight: 1, arbitrary: fc.constant(inlineImage) }), {
    minLength: 1,
    maxLength: 3,
  }),
  assistantText: fc.option(textPart, { nil: undefined }),
  calls: fc.array(fc.record({ name, arguments: jsonObject.map((value) => JSON.stringify(value)), result: words, isError: fc.boolean() }), {
    maxLength: 3,
  }),
});

/**
 * Writes rounds as turns. A round without an answer would put two user turns together, which dialects with alternating
 * turns would merge.
 */
function layOut(rounds: readonly Round[]): readonly Turn[] {
  let lastCall = 0;
  return rounds.flatMap(({ userParts, assistantText, calls }): readonly Turn[] => {
    const ids = calls.map(() => `call_${++lastCall}`);
    const numberedCalls = calls.map((call, index): Part => ({
      kind: 'tool-call',
      id: ids[index] ?? '',
      name: call.name,
      arguments: call.arguments,
    }));
    const results = calls.map(({ name: callName, result, isError }, index): ToolResultPart => ({
      kind: 'tool-result',
      callId: ids[index] ?? '',
      name: callName,
      content: [{ kind: 'text', text: result }],
      isError,
    }));
    const spoken: readonly Part[] = [
      ...(assistantText === undefined && calls.length > 0 ? [] : [assistantText ?? ({ kind: 'text', text: 'Yes.' } as const)]),
      ...numberedCalls,
    ];
    const turns: readonly Turn[] = [
      { role: 'user', parts: userParts },
      { role: 'assistant', parts: spoken },
    ];
    return results.length === 0
      ? turns
      : [...turns, { role: 'user', parts: results }, { role: 'assistant', parts: [{ kind: 'text', text: 'Done.' }] }];
  });
}

const conversation: fc.Arbitrary<readonly Turn[]> = fc
  .tuple(fc.array(round, { maxLength: 3 }), fc.array(textPart, { minLength: 1, maxLength: 2 }))
  .map(([rounds, last]) => [...layOut(rounds), { role: 'user', parts: last }]);

const tools: fc.Arbitrary<readonly FunctionTool[]> = fc.uniqueArray(
  fc.record({ name, description: words }).map((tool): FunctionTool => ({ kind: 'function', ...tool, parameters })),
  { maxLength: 3, selector: (tool) => tool.name },
);

/** A conversation, and tools that include all tools that it calls. */
const toolsAndTurns = fc.tuple(tools, conversation).map(([more, turns]) => {
  const called = turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'tool-call' ? [part.name] : [])));
  const missing = [...new Set(called)].filter((each) => !more.some((tool) => tool.name === each));
  const offered: readonly FunctionTool[] = [
    ...more,
    ...missing.map((each): FunctionTool => ({ kind: 'function', name: each, parameters })),
  ];
  return { offered, turns };
});

function choiceAmong(offered: readonly FunctionTool[]): fc.Arbitrary<ToolChoice | undefined> {
  const [first] = offered;
  if (first === undefined) return fc.constant(undefined);
  return fc.constantFrom<ToolChoice | undefined>(
    undefined,
    { kind: 'auto' },
    { kind: 'required' },
    { kind: 'none' },
    { kind: 'function', name: first.name },
  );
}

const outputFormat = fc.constantFrom<OutputFormat | undefined>(undefined, { kind: 'json-schema', name: 'answer', schema: parameters });

/** Removes undefined members. */
function defined<Value extends object>(value: { [Name in keyof Value]: Value[Name] | undefined }): Value {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Value;
}

const maybe = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> => fc.option(arbitrary, { nil: undefined });

const sampling = fc
  .record({
    temperature: maybe(fc.constantFrom(0, 0.5)),
    topP: maybe(fc.constantFrom(0.1, 0.9)),
    topK: maybe(fc.integer({ min: 1, max: 100 })),
    seed: maybe(fc.integer({ min: 0, max: 1000 })),
    presencePenalty: maybe(fc.constantFrom(-1, 0.5)),
    frequencyPenalty: maybe(fc.constantFrom(-1, 0.5)),
  })
  .map((members) => defined<InferenceRequest['sampling']>(members));

/** Requests in the neutral form that every dialect can express, some of them with losses. */
export const arbitraryRequest: fc.Arbitrary<InferenceRequest> = toolsAndTurns.chain(({ offered, turns }) =>
  fc
    .record({
      model: fc.constant('model'),
      stream: fc.boolean(),
      instructions: fc.array(textPart, { maxLength: 2 }),
      turns: fc.constant(turns),
      tools: fc.constant(offered),
      toolChoice: choiceAmong(offered),
      parallelToolCalls: offered.length === 0 ? fc.constant(undefined) : maybe(fc.constant(false)),
      outputTokensMax: fc.integer({ min: 40_000, max: 50_000 }),
      stopSequences: maybe(fc.uniqueArray(name, { minLength: 1, maxLength: 3 })),
      outputFormat,
      sampling,
      reasoning: maybe(
        fc.constantFrom<InferenceRequest['reasoning']>({ mode: 'off' }, { mode: 'on', effort: 'low' }, { mode: 'on', effort: 'high' }),
      ),
      endUser: maybe(name),
      serviceTier: maybe(fc.constantFrom<InferenceRequest['serviceTier']>('default', 'flex')),
      vendorFields: fc.constant([]),
    })
    .map((members) => defined<InferenceRequest>(members)),
);

const oddName = fc.oneof(name, fc.constantFrom('files.read:1', '2fast', 'f'.repeat(100), 'naïve', '-', 'a b'));
const oddId = fc.oneof(fc.constantFrom('call_1', 'call_2', 'functions.f:0', 'toolu_01', 'x'.repeat(90), 'é', ''), name);
const oddText = fc.oneof(words, fc.constantFrom('', ' ', '\n', ' ends with a blank '), fc.string({ unit: anyUnit, maxLength: 4 }));

const oddPart: fc.Arbitrary<Part> = fc.oneof(
  oddText.map((text): Part => ({ kind: 'text', text })),
  fc.constant<Part>(inlineImage),
  fc
    .record({ id: oddId, name: oddName, arguments: fc.constantFrom('', '{}', '{"city":"Oslo"}') })
    .map((call): Part => ({ kind: 'tool-call', ...call })),
  fc
    .record({ callId: oddId, text: oddText, isError: fc.boolean() })
    .map(({ callId, text, isError }): Part => ({ kind: 'tool-result', callId, content: [{ kind: 'text', text }], isError })),
  words.map((text): Part => ({ kind: 'refusal', text })),
  fc.record({ blob: name, origin: fc.constant('another') }).map((proof): Part => ({ kind: 'reasoning', text: ['thought'], proof })),
);

/** Any content in a turn of each speaker, in any order and number. */
const oddTurn: fc.Arbitrary<Turn> = fc
  .record({ role: fc.constantFrom('system', 'user', 'assistant'), parts: fc.array(oddPart, { maxLength: 4 }) })
  .map(({ role, parts }): Turn => {
    const spoken = new Set<Part['kind']>(
      role === 'assistant' ? ['text', 'tool-call', 'refusal', 'reasoning'] : role === 'user' ? ['text', 'media', 'tool-result'] : ['text'],
    );
    return { role, parts: parts.filter((part) => spoken.has(part.kind)) };
  });

/** Requests whose conversations no vendor would accept. They must be put in order, or refused. */
export const arbitraryOddRequest: fc.Arbitrary<InferenceRequest> = fc
  .tuple(arbitraryRequest, fc.array(oddTurn, { maxLength: 6 }), fc.array(oddName, { maxLength: 3 }))
  .map(([request, turns, names]) => ({
    ...request,
    turns: [...turns, ...request.turns],
    tools: [...request.tools, ...[...new Set(names)].map((each): FunctionTool => ({ kind: 'function', name: each, parameters }))].filter(
      (tool, index, all) => all.findIndex((other) => 'name' in tool && 'name' in other && other.name === tool.name) === index,
    ),
  }));

const replyPart: fc.Arbitrary<ReplyPart> = fc.oneof(
  textPart,
  fc.record({ kind: fc.constant('reasoning' as const), text: fc.array(words, { minLength: 1, maxLength: 2 }) }),
);

const calls = fc.array(
  fc
    .record({ name, arguments: jsonObject.map((value) => JSON.stringify(value)) })
    .map((call): ReplyPart => ({ kind: 'tool-call', id: '', ...call })),
  { maxLength: 3 },
);

const usage = fc.record({
  inputTokens: fc.integer({ min: 1, max: 100_000 }),
  cacheReadTokens: fc.integer({ min: 0, max: 100_000 }),
  outputTokens: fc.integer({ min: 500, max: 100_000 }),
  reasoningTokens: fc.integer({ min: 0, max: 500 }),
});

/** Replies in the neutral form: thoughts and text, then calls. */
export const arbitraryReply: fc.Arbitrary<InferenceReply> = fc
  .record({ texts: fc.array(replyPart, { maxLength: 3 }), calls, usage, wasCut: fc.boolean() })
  .map(({ texts, calls: rawCalls, usage: used, wasCut }) => {
    const numbered = rawCalls.map((call, index) => ({ ...call, id: `call_${index + 1}` }));
    const stopReason: StopReason = wasCut ? 'output-limit' : rawCalls.length > 0 ? 'tool-calls' : 'end';
    return {
      replyId: 'reply_1',
      servedModel: 'model',
      parts: [...texts, ...numbered],
      stopReason,
      usageReport: { usage: used, raw: {}, trustworthy: true },
    };
  });
