import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPromptCache } from '../../prompt-cache.ts';
import { VendorError } from '../../simulated-vendor.ts';
import type { JsonRecord, SimulatedReply, SimulatedRequest } from '../../simulated-vendor.ts';
import { createSteeredPlanner } from '../create-steered-planner.ts';
import { gemini } from './gemini.ts';

type Call = {
  method?: string;
  path?: string;
  model?: string;
  action?: string;
  steering?: Record<string, string>;
  headers?: Record<string, string>;
  cache?: ReturnType<typeof createPromptCache>;
};

// Bodies are read loosely: their content is the subject of the tests.
type Loose = any;

function toRequest(body: JsonRecord | undefined, call: Call): SimulatedRequest {
  const target = call.path ?? `/v1beta/models/${call.model ?? 'gemini-2.0-flash'}:${call.action ?? 'generateContent'}`;
  const [path = '', query = ''] = target.split('?');
  return {
    method: call.method ?? 'POST',
    path,
    query: new URLSearchParams(query),
    headers: call.headers ?? { 'x-goog-api-key': 'key' },
    body,
  };
}

function send(body: JsonRecord | undefined, call: Call = {}): SimulatedReply | undefined {
  return gemini.handle(toRequest(body, call), createSteeredPlanner(call.steering, call.cache));
}

function whole(body: JsonRecord | undefined, call: Call = {}): Loose {
  const reply = send(body, call);
  assert.equal(reply?.type, 'whole');
  return JSON.parse(reply.body);
}

function stream(body: JsonRecord, call: Call = {}): { chunks: Loose[]; reply: Extract<SimulatedReply, { type: 'stream' }> } {
  const reply = send(body, { action: 'streamGenerateContent?alt=sse', ...call });
  assert.equal(reply?.type, 'stream');
  const chunks = reply.frames.map((frame) => {
    const [, data] = /^data: (.+)\r\n\r\n$/.exec(frame) ?? [];
    return JSON.parse(data ?? '');
  });
  return { chunks, reply };
}

function refusalOf(body: JsonRecord, call: Call = {}): Loose {
  try {
    send(body, call);
  } catch (error) {
    assert.ok(error instanceof VendorError);
    const details: Loose = error.body;
    assert.equal(details.error.code, error.status);
    return details.error;
  }
  throw new Error(`accepted: ${JSON.stringify(body)}`);
}

const user = (text: string): JsonRecord => ({ role: 'user', parts: [{ text }] });
const hello: JsonRecord = { contents: [user('Hello')] };
const weather = { name: 'get_weather', parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } }, required: ['city'] } };
const weatherTool = [{ functionDeclarations: [weather] }];
const textOf = (reply: Loose): string => reply.candidates[0].content.parts.map((part: Loose) => part.text ?? '').join('');

test('whole-reply: there is one candidate of the model, with usage, version and id', () => {
  const reply = whole(hello);
  assert.deepEqual(Object.keys(reply), ['candidates', 'usageMetadata', 'modelVersion', 'responseId']);
  const [candidate] = reply.candidates;
  assert.deepEqual([candidate.finishReason, candidate.index, candidate.content.role], ['STOP', 0, 'model']);
  assert.match(textOf(reply), /simulated/);
  const { promptTokenCount, candidatesTokenCount, totalTokenCount, promptTokensDetails } = reply.usageMetadata;
  assert.equal(totalTokenCount, promptTokenCount + candidatesTokenCount);
  assert.deepEqual(promptTokensDetails, [{ modality: 'TEXT', tokenCount: promptTokenCount }]);
  assert.equal(reply.modelVersion, 'gemini-2.0-flash');
  assert.deepEqual(send(hello), send(hello));
});

test('event-stream-framing: frames end with CRLF, have only new text and cumulative usage, and only the last has a reason', () => {
  const { chunks, reply } = stream(hello);
  const last = chunks.at(-1);
  assert.equal(chunks.map(textOf).join(''), textOf(whole(hello)));
  assert.deepEqual(last.usageMetadata, whole(hello).usageMetadata);
  let counted = 0;
  for (const [index, chunk] of chunks.entries()) {
    const { candidatesTokenCount, totalTokenCount, promptTokenCount } = chunk.usageMetadata;
    assert.ok(candidatesTokenCount >= counted);
    counted = candidatesTokenCount;
    assert.equal(totalTokenCount, promptTokenCount + candidatesTokenCount);
    assert.equal(chunk.candidates[0].finishReason, index === chunks.length - 1 ? 'STOP' : undefined);
    assert.deepEqual([chunk.responseId, chunk.modelVersion], [last.responseId, last.modelVersion]);
  }
  assert.equal(
    reply.frameTokens.reduce((sum, tokens) => sum + tokens, 0),
    counted,
  );
  assert.equal(reply.headers['content-type'], 'text/event-stream');
  assert.match(reply.errorFrame, /^data: \{"error":\{"code":503,.+\}\r\n\r\n$/);
});

test('array-stream-framing: without alt=sse the pieces join to one JSON array', () => {
  const reply = send(hello, { action: 'streamGenerateContent' });
  assert.equal(reply?.type, 'stream');
  assert.ok(reply.frames[0]?.startsWith('[') && reply.frames[1]?.startsWith(',\r\n'));
  const chunks = JSON.parse(reply.frames.join(''));
  assert.deepEqual(chunks, stream(hello).chunks);
  assert.equal(reply.frames.length, reply.frameTokens.length);
  const broken = JSON.parse(`${reply.frames.slice(0, 2).join('')}${reply.errorFrame}`);
  assert.equal(broken.at(-1).error.status, 'UNAVAILABLE');
  assert.match(reply.headers['content-type'] ?? '', /^application\/json/);
});

test('refusals-of-array-streams: they are wrapped in an array, those of the other forms are not', () => {
  assert.throws(
    () => send({ contents: [] }, { action: 'streamGenerateContent' }),
    (error: VendorError) => Array.isArray(error.body),
  );
  assert.throws(
    () => gemini.authenticate(toRequest({}, { action: 'streamGenerateContent', headers: {} })),
    (error: VendorError) => Array.isArray(error.body),
  );
  assert.throws(
    () => send({ contents: [] }, { action: 'streamGenerateContent?alt=sse' }),
    (error: VendorError) => !Array.isArray(error.body),
  );
});

test('thoughts-counted-twice: they are beside the candidate tokens, and are shown only on request', () => {
  const model = 'gemini-2.5-flash';
  const hidden = whole(hello, { model });
  assert.ok(hidden.candidates[0].content.parts.every((part: Loose) => part.thought === undefined));
  const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount, totalTokenCount } = hidden.usageMetadata;
  assert.ok(thoughtsTokenCount > 0);
  assert.equal(totalTokenCount, promptTokenCount + candidatesTokenCount + thoughtsTokenCount);
  assert.equal(hidden.candidates[0].content.parts.at(-1).thoughtSignature.length % 4, 0);
  const thinking = { ...hello, generationConfig: { thinkingConfig: { includeThoughts: true } } };
  const { chunks, reply } = stream(thinking, { model });
  assert.equal(chunks[0].candidates[0].content.parts[0].thought, true);
  assert.deepEqual(chunks.at(-1).usageMetadata, hidden.usageMetadata);
  assert.ok(chunks.at(-1).candidates[0].content.parts[0].thoughtSignature);
  assert.equal(
    reply.frameTokens.reduce((sum, tokens) => sum + tokens, 0),
    candidatesTokenCount + thoughtsTokenCount,
  );
  const without = whole({ ...hello, generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }, { model });
  assert.equal(without.usageMetadata.thoughtsTokenCount, undefined);
});

test('parallel-calls: several parts are in one content, the reason is STOP, and only the first call has the signature', () => {
  const body = { ...hello, tools: weatherTool, toolConfig: { functionCallingConfig: { mode: 'ANY' } } };
  const reply = whole(body, { model: 'gemini-3-flash-preview', steering: { 'tool-calls': '2' } });
  const parts = reply.candidates[0].content.parts;
  assert.deepEqual(
    parts.map((part: Loose) => [
      part.functionCall.name,
      typeof part.functionCall.args.city,
      'thoughtSignature' in part,
      'id' in part.functionCall,
    ]),
    [
      ['get_weather', 'string', true, false],
      ['get_weather', 'string', false, false],
    ],
  );
  assert.equal(reply.candidates[0].finishReason, 'STOP');
  const { chunks, reply: streamed } = stream(body, { model: 'gemini-3-flash-preview', steering: { 'tool-calls': '2' } });
  assert.deepEqual(
    chunks.flatMap((chunk) => chunk.candidates[0].content.parts),
    parts,
  );
  const { candidatesTokenCount, thoughtsTokenCount } = reply.usageMetadata;
  assert.equal(
    streamed.frameTokens.reduce((sum, tokens) => sum + tokens, 0),
    candidatesTokenCount + thoughtsTokenCount,
  );
});

test('tool-loop: calls are returned with their signatures and their responses, in one turn or one turn each', () => {
  const model = 'gemini-3-flash-preview';
  const body = { ...hello, tools: weatherTool };
  const first = whole(body, { model, steering: { stop: 'tool-use', 'tool-calls': '2' } });
  const call = first.candidates[0].content;
  const response = { functionResponse: { name: 'get_weather', response: { degrees: 20 } } };
  const together = whole({ ...body, contents: [user('Hello'), call, { role: 'user', parts: [response, response] }] }, { model });
  assert.match(textOf(together), /simulated/);
  const apart = [user('Hello'), call, { role: 'user', parts: [response] }, { role: 'user', parts: [response] }];
  assert.match(textOf(whole({ ...body, contents: apart }, { model })), /simulated/);
  const one = refusalOf({ ...body, contents: [user('Hello'), call, { role: 'user', parts: [response] }] }, { model });
  assert.match(one.message, /^Please ensure that the number of function response parts is equal/);
  const none = refusalOf({ ...body, contents: [user('Hello'), { role: 'user', parts: [response] }] }, { model });
  assert.match(none.message, /^Please ensure that function response turn comes immediately after/);
  const unsigned = structuredClone(call);
  for (const part of unsigned.parts) delete part.thoughtSignature;
  const contents = [user('Hello'), unsigned, { role: 'user', parts: [response, response] }];
  assert.match(
    refusalOf({ ...body, contents }, { model }).message,
    /^Function call is missing a thought_signature in functionCall parts\./,
  );
  assert.match(textOf(whole({ ...body, contents }, { model: 'gemini-2.5-flash' })), /simulated/);
  // A finished turn needs no signatures any more.
  assert.ok(
    whole({ ...body, contents: [...contents, { role: 'model', parts: [{ text: 'ok' }] }, user('And now?')] }, { model }).candidates,
  );
  unsigned.parts.find((part: Loose) => part.functionCall).thoughtSignature = 'skip_thought_signature_validator';
  assert.ok(whole({ ...body, contents }, { model }).candidates);
  unsigned.parts.find((part: Loose) => part.functionCall).thoughtSignature = 'c29tZXRoaW5nIGVsc2U=';
  assert.equal(refusalOf({ ...body, contents }, { model }).message, 'Corrupted thought signature.');
});

test('calling-modes: NONE calls nothing, and allowed names narrow ANY', () => {
  const tools = [{ function_declarations: [weather, { name: 'other', parametersJsonSchema: { type: 'object', properties: {} } }] }];
  const none = whole({ ...hello, tools, tool_config: { function_calling_config: { mode: 'none' } } });
  assert.ok(none.candidates[0].content.parts.every((part: Loose) => part.text !== undefined));
  const config = { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['other'] } };
  const any = whole({ ...hello, tools, toolConfig: config });
  assert.deepEqual(any.candidates[0].content.parts[0].functionCall, { name: 'other' });
});

test('structured-output: responseSchema, responseJsonSchema and bare enums apply', () => {
  const config = (members: JsonRecord): JsonRecord => ({
    ...hello,
    generationConfig: { responseMimeType: 'application/json', ...members },
  });
  assert.equal(typeof JSON.parse(textOf(whole(config({ responseSchema: weather.parameters })))).city, 'string');
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false };
  assert.equal(typeof JSON.parse(textOf(whole(config({ responseJsonSchema: schema })))).n, 'number');
  assert.ok(JSON.parse(textOf(whole(config({})))));
  const bare = whole(config({ responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['yes', 'no'] } }));
  assert.match(textOf(bare), /^(yes|no)$/);
});

test('grounding-offsets: they count bytes of the text, also beyond ASCII, and all metadata is in the last chunk', () => {
  const body = { contents: [user('Was läuft in Zürich? 世界')], tools: [{ googleSearch: {} }] };
  const reply = whole(body, { steering: { text: encodeURIComponent('Über Zürich: 世界. Second 😀 sentence! Third?') } });
  const [candidate] = reply.candidates;
  const { groundingMetadata: metadata } = candidate;
  const bytes = Buffer.from(textOf(reply));
  assert.equal(metadata.groundingSupports.length, 3);
  for (const { segment, groundingChunkIndices } of metadata.groundingSupports) {
    assert.equal(bytes.subarray(segment.startIndex ?? 0, segment.endIndex).toString(), segment.text);
    assert.deepEqual(groundingChunkIndices, [0]);
  }
  assert.equal('startIndex' in metadata.groundingSupports[0].segment, false);
  assert.deepEqual(metadata.webSearchQueries, ['Was läuft in Zürich? 世界']);
  assert.equal('retrievalMetadata' in metadata, false);
  const { chunks } = stream(body);
  assert.deepEqual(chunks[0].candidates[0].groundingMetadata, {});
  assert.ok(chunks.at(-1).candidates[0].groundingMetadata.groundingChunks[0].web.uri);
});

test('older-search-tool: it reports the score, and a threshold above the score prevents a search', () => {
  const score = { googleSearchDynamicRetrievalScore: 0.85 };
  const searched = whole({ ...hello, tools: [{ google_search_retrieval: {} }] }).candidates[0].groundingMetadata;
  assert.deepEqual(searched.retrievalMetadata, score);
  assert.ok(searched.groundingChunks);
  const config = { dynamicRetrievalConfig: { mode: 'MODE_DYNAMIC', dynamicThreshold: 0.9 } };
  const unsearched = whole({ ...hello, tools: [{ googleSearchRetrieval: config }] }).candidates[0].groundingMetadata;
  assert.deepEqual(unsearched, { retrievalMetadata: score });
});

test('code-execution: code, result and text come in this order, and its tokens are subtracted from the prompt', () => {
  const reply = whole({ ...hello, tools: [{ codeExecution: {} }, { googleSearch: {} }] });
  const { parts } = reply.candidates[0].content;
  assert.deepEqual(
    parts.map((part: Loose) => Object.keys(part)[0]),
    ['executableCode', 'codeExecutionResult', 'text'],
  );
  assert.equal(parts[0].executableCode.language, 'PYTHON');
  assert.equal(reply.candidates[0].groundingMetadata.groundingSupports[0].segment.partIndex, 2);
  const usage = reply.usageMetadata;
  assert.equal(usage.totalTokenCount, usage.promptTokenCount + usage.toolUsePromptTokenCount + usage.candidatesTokenCount);
  assert.equal(
    stream({ ...hello, tools: [{ codeExecution: {} }] }).chunks[0].candidates[0].content.parts[0].executableCode.language,
    'PYTHON',
  );
});

test('url-context: the pages in the prompt are listed', () => {
  const reply = whole({ contents: [user('Read https://simulated.example/a please')], tools: [{ urlContext: {} }] });
  assert.deepEqual(reply.candidates[0].urlContextMetadata.urlMetadata, [
    { retrievedUrl: 'https://simulated.example/a', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
  ]);
});

test('output-limit: the reason is MAX_TOKENS, and there are no parts if every token was a thought', () => {
  const body = { ...hello, generationConfig: { maxOutputTokens: 8 } };
  const reply = whole(body);
  assert.equal(reply.candidates[0].finishReason, 'MAX_TOKENS');
  assert.equal(reply.usageMetadata.candidatesTokenCount, 8);
  const thoughts = whole(body, { model: 'gemini-2.5-flash' });
  assert.deepEqual([thoughts.candidates[0].finishReason, thoughts.candidates[0].content.parts], ['MAX_TOKENS', undefined]);
  assert.deepEqual([thoughts.usageMetadata.thoughtsTokenCount, thoughts.usageMetadata.candidatesTokenCount], [8, undefined]);
});

test('blocked-answer: the reason is SAFETY, with ratings and a content without parts', () => {
  const [candidate] = whole(hello, { steering: { stop: 'content-filter' } }).candidates;
  assert.deepEqual([candidate.finishReason, candidate.content], ['SAFETY', {}]);
  assert.equal(candidate.safetyRatings[0].blocked, true);
  const { chunks, reply } = stream(hello, { steering: { stop: 'content-filter' } });
  assert.equal(chunks.at(-1).candidates[0].finishReason, 'SAFETY');
  assert.equal(chunks.at(-1).candidates[0].content, undefined);
  assert.equal(
    reply.frameTokens.reduce((sum, tokens) => sum + tokens, 0),
    chunks.at(-1).usageMetadata.candidatesTokenCount,
  );
});

test('blocked-prompt: the status is 200 without candidates, and no output is counted', () => {
  for (const reply of [whole(hello, { steering: { stop: 'refusal' } }), stream(hello, { steering: { stop: 'refusal' } }).chunks[0]]) {
    assert.deepEqual(Object.keys(reply), ['promptFeedback', 'usageMetadata', 'modelVersion', 'responseId']);
    assert.equal(reply.usageMetadata.totalTokenCount, reply.usageMetadata.promptTokenCount);
  }
  assert.equal(send(hello, { steering: { stop: 'refusal' } })?.plan?.usage.outputTokens, 0);
});

test('empty-reply: there is one chunk with an ending', () => {
  const { chunks, reply } = stream(hello, { steering: { text: '' } });
  assert.equal(chunks.length, 1);
  assert.equal(chunks[0].candidates[0].finishReason, 'STOP');
  assert.deepEqual(reply.frameTokens, [1]);
});

test('unknown-part: a part of an unknown kind can be requested', () => {
  const { parts } = whole(hello, { steering: { fault: 'unknown-block' } }).candidates[0].content;
  assert.ok(parts[0].simulatedUnknownPart);
});

test('lenient-names: snake case, single values for lists, numbers as strings, lower-case types and null are accepted', () => {
  const strict = whole({
    contents: [{ role: 'user', parts: [{ text: 'Hello' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] }],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    generationConfig: { maxOutputTokens: 20, stopSequences: ['x!'] },
    tools: [{ functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT', properties: { snake_case: { type: 'STRING' } } } }] }],
    toolConfig: { functionCallingConfig: { mode: 'NONE' } },
  });
  const lenient = whole({
    contents: { parts: [{ text: 'Hello' }, { inline_data: { mime_type: 'image/png', data: 'AAAA' } }] },
    system_instruction: { parts: { text: 'Be brief.' } },
    generation_config: { max_output_tokens: '20', stop_sequences: 'x!', seed: null },
    tools: { function_declarations: { name: 'f', parameters: { type: 'object', properties: { snake_case: { type: 'string' } } } } },
    tool_config: { function_calling_config: { mode: 3 } },
  });
  assert.deepEqual(lenient, strict);
  assert.deepEqual(strict.usageMetadata.promptTokensDetails[1], { modality: 'IMAGE', tokenCount: 256 });
});

test('free-form-keys-are-renamed: members of arguments, responses and schemas keep their spelling', () => {
  const tools = [
    {
      functionDeclarations: [
        { name: 'f', parameters: { type: 'OBJECT', properties: { snake_case: { type: 'STRING' } }, required: ['snake_case'] } },
      ],
    },
  ];
  const call = { functionCall: { name: 'f', args: { snake_case: 1, camelCase: 2 } } };
  const response = { functionResponse: { name: 'f', response: { snake_case: 1 } } };
  assert.ok(whole({ contents: [user('x'), { role: 'model', parts: [call] }, { role: 'user', parts: [response] }], tools }).candidates);
  const reply = whole({ ...hello, tools, toolConfig: { functionCallingConfig: { mode: 'ANY' } } });
  assert.deepEqual(Object.keys(reply.candidates[0].content.parts[0].functionCall.args), ['snake_case']);
});

test('implicit-cache: cached tokens are inside the prompt count', () => {
  const cache = createPromptCache();
  const body = { contents: [user('The same long words. '.repeat(400))] };
  const first = whole(body, { cache }).usageMetadata;
  const second = whole(body, { cache }).usageMetadata;
  assert.equal(first.promptTokenCount, second.promptTokenCount);
  assert.equal(first.cachedContentTokenCount, undefined);
  assert.ok(second.cachedContentTokenCount > 1000 && second.cachedContentTokenCount < second.promptTokenCount);
  assert.deepEqual(second.cacheTokensDetails, [{ modality: 'TEXT', tokenCount: second.cachedContentTokenCount }]);
});

test('count-tokens: both forms count the tokens that generation bills', () => {
  const { promptTokenCount } = whole({ ...hello, tools: weatherTool }).usageMetadata;
  const inner = { model: 'models/gemini-2.0-flash', ...hello, tools: weatherTool };
  const counted = whole({ generateContentRequest: inner }, { action: 'countTokens' });
  assert.deepEqual(counted, { totalTokens: promptTokenCount, promptTokensDetails: [{ modality: 'TEXT', tokenCount: promptTokenCount }] });
  assert.equal(whole(hello, { action: 'countTokens' }).totalTokens, whole(hello).usageMetadata.promptTokenCount);
});

test('models: pages continue until the token is absent, and one model can be read', () => {
  const names: string[] = [];
  let token = '';
  do {
    const page = whole(undefined, { method: 'GET', path: `/v1beta/models?pageSize=4${token && `&pageToken=${token}`}` });
    names.push(...page.models.map((model: Loose) => model.name));
    token = page.nextPageToken ?? '';
  } while (token !== '');
  assert.equal(new Set(names).size, names.length);
  const model = whole(undefined, { method: 'GET', path: '/v1beta/models/gemini-2.5-pro' });
  assert.deepEqual([model.name, model.thinking], ['models/gemini-2.5-pro', true]);
  assert.throws(() => send(undefined, { method: 'GET', path: '/v1beta/models/missing-one' }), { status: 404 });
});

test('spellings-of-the-path: doubled models, an encoded colon and other versions are found, other actions are not', () => {
  for (const path of [
    '/v1beta/models/models/gemini-2.0-flash:generateContent',
    '/v1beta/models/gemini-2.0-flash%3AgenerateContent',
    '/v1/models/gemini-2.0-flash:generateContent',
  ]) {
    assert.ok(whole(hello, { path }).candidates);
  }
  assert.equal(send(hello, { action: 'embedEverything' }), undefined);
  assert.equal(send(hello, { path: '/v1/messages' }), undefined);
  assert.equal(send(undefined, { method: 'GET', path: '/v1beta/files' }), undefined);
});

test('credentials: a key is accepted in the header or the query, and never as a bearer token', () => {
  const authenticate = (headers: Record<string, string>, query = ''): void =>
    gemini.authenticate(toRequest({}, { headers, action: `generateContent${query}` }));
  authenticate({ 'x-goog-api-key': 'k' });
  authenticate({}, '?key=k');
  assert.throws(() => authenticate({}), { status: 403 });
  assert.throws(() => authenticate({ authorization: 'Bearer k' }), { status: 401 });
  const refusal: Loose = gemini.refuseCredential?.('k', toRequest({}, {})).body;
  assert.equal(refusal.error.details[0].reason, 'API_KEY_INVALID');
});

test('error-bodies: they have status names and, for 429, the time to wait', () => {
  const body: Loose = gemini.errorBody(429, 'Slow down.');
  assert.deepEqual([body.error.code, body.error.status, body.error.details.at(-1).retryDelay], [429, 'RESOURCE_EXHAUSTED', '1s']);
  const overloaded: Loose = gemini.errorBody(503, 'x');
  assert.deepEqual(overloaded, { error: { code: 503, message: 'x', status: 'UNAVAILABLE' } });
});

const part = (members: JsonRecord): JsonRecord => ({ contents: [{ role: 'user', parts: [members] }] });
const config = (members: JsonRecord): JsonRecord => ({ ...hello, generationConfig: members });
const declared = (parameters: JsonRecord): JsonRecord => ({ ...hello, tools: [{ functionDeclarations: [{ name: 'f', parameters }] }] });

for (const [body, message] of [
  [{}, '* GenerateContentRequest.contents: contents is not specified\n'],
  [{ contents: [{ role: 'user', parts: [] }] }, '* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.\n'],
  [part({}), "* GenerateContentRequest.contents[0].parts[0].data: required oneof field 'data' must have one initialized field\n"],
  [{ contents: [{ role: 'system', parts: [{ text: 'x' }] }] }, 'Please use a valid role: user, model.'],
  [{ ...hello, foo: 1 }, 'Invalid JSON payload received. Unknown name "foo": Cannot find field.'],
  [{ ...hello, messages: [] }, 'Invalid JSON payload received. Unknown name "messages": Cannot find field.'],
  [config({ foo: 1 }), 'Invalid JSON payload received. Unknown name "foo" at \'generation_config\': Cannot find field.'],
  [
    config({ max_tokens: 1, n: 2 }),
    'Invalid JSON payload received. Unknown name "max_tokens" at \'generation_config\': Cannot find field.\nInvalid JSON payload received. Unknown name "n" at \'generation_config\': Cannot find field.',
  ],
  [
    declared({ type: 'OBJECT', additionalProperties: false }),
    'Invalid JSON payload received. Unknown name "additionalProperties" at \'tools[0].function_declarations[0].parameters\': Cannot find field.',
  ],
  [
    declared({ type: 'OBJECT', properties: { a: { type: 'STRING', const: 'x' } } }),
    'Invalid JSON payload received. Unknown name "const" at \'tools[0].function_declarations[0].parameters.properties[0].value\': Cannot find field.',
  ],
  [declared({ type: ['string', 'null'] }), undefined],
  [
    part({ inlineData: { mimeType: 'image/png', data: 'no base64!' } }),
    'Invalid value at \'contents[0].parts[0].inline_data.data\' (TYPE_BYTES), Base64 decoding failed for "no base64!"',
  ],
  [
    part({ text: 'x', inlineData: { mimeType: 'image/png', data: 'AAAA' } }),
    "Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'inlineData'",
  ],
  [config({ temperature: 'hot' }), 'Invalid value at \'generation_config.temperature\' (TYPE_FLOAT), "hot"'],
  [config({ maxOutputTokens: 1.5 }), "Invalid value at 'generation_config.max_output_tokens' (TYPE_INT32), 1.5"],
  [config({ temperature: 2.5 }), '* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].\n'],
  [config({ topP: 2 }), '* GenerateContentRequest.generation_config.top_p: top_p must be in the range [0.0, 1.0].\n'],
  [config({ maxOutputTokens: 0 }), '* GenerateContentRequest.generation_config.max_output_tokens: max_output_tokens must be positive.\n'],
  [config({ stopSequences: ['a', 'b', 'c', 'd', 'e', 'f'] }), undefined],
  [config({ responseSchema: { type: 'STRING' } }), "Response schema with a response mime type: 'text/plain' is unsupported"],
  [config({ candidateCount: 2 }), 'Multiple candidates is not enabled for models/gemini-2.0-flash'],
  [
    { ...hello, safetySettings: [{ category: 'BAD', threshold: 'OFF' }] },
    'Invalid value at \'safety_settings[0].category\' (type.googleapis.com/google.ai.generativelanguage.v1beta.HarmCategory), "BAD"',
  ],
  [
    { ...hello, systemInstruction: 'text' },
    'Invalid value at \'system_instruction\' (type.googleapis.com/google.ai.generativelanguage.v1beta.Content), "text"',
  ],
  [
    { ...hello, generationConfig: [] },
    'Invalid JSON payload received. Unknown name "generation_config": Proto field is not repeating, cannot start list.',
  ],
  [{ contents: 'text' }, undefined],
  [{ ...hello, toolConfig: { functionCallingConfig: { mode: 'ANY' } } }, 'Function calling config is set without function_declarations.'],
  [{ ...hello, tools: [{ functionDeclarations: [{ name: '1f' }] }] }, undefined],
  [{ ...hello, tools: [{ functionDeclarations: [{ name: 'f' }, { name: 'f' }] }] }, 'Duplicate function declaration found: f'],
  [
    { ...hello, tools: [{ googleSearch: { foo: 1 } }] },
    'Invalid JSON payload received. Unknown name "foo" at \'tools[0].google_search\': Cannot find field.',
  ],
] as const satisfies readonly (readonly [JsonRecord, string | undefined])[]) {
  test(`wrong-request-is-refused: ${JSON.stringify(body).slice(0, 110)}`, () => {
    const error = refusalOf(body);
    assert.deepEqual([error.code, error.status, error.message], [400, 'INVALID_ARGUMENT', message ?? error.message]);
  });
}

test('field-violations: an unknown name is also in the details', () => {
  assert.deepEqual(refusalOf(config({ foo: 1 })).details, [
    {
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: [
        {
          field: 'generation_config',
          description: 'Invalid JSON payload received. Unknown name "foo" at \'generation_config\': Cannot find field.',
        },
      ],
    },
  ]);
});

test('misdirected-model: missing models and those of other vendors are not found', () => {
  for (const model of ['missing-model', 'claude-opus-5', 'gpt-5']) {
    const error = refusalOf(hello, { model });
    assert.deepEqual([error.code, error.status], [404, 'NOT_FOUND']);
    assert.match(
      error.message,
      new RegExp(`^models/${model} is not found for API version v1beta, or is not supported for generateContent\\.`),
    );
  }
  assert.equal(refusalOf({ ...hello, cachedContent: 'cachedContents/x' }).code, 403);
});
