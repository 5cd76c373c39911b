import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import type { CheckName, Verdict } from '../../src/main/doctor/finding.ts';
import {
  answerOf,
  type ChatBody,
  configOf,
  examine,
  secret,
  sendJson,
  sendStream,
  show,
  startOddServer,
  streamEvents,
  told,
  wholeReply,
} from './doctor-kit.ts';

type Answering = (body: ChatBody | undefined, response: ServerResponse) => boolean;

const refuseKey: Answering = (_body, response) => {
  sendJson(response, 401, {
    error: { message: `Incorrect API key provided: ${secret}`, type: 'invalid_request_error', code: 'invalid_api_key' },
  });
  return true;
};

const page: Answering = (_body, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<html><title>Sign in</title>\u001b[2J</html>');
  return true;
};

/** Answers only chat requests with `stream`. */
const onStream =
  (answer: (body: ChatBody, response: ServerResponse) => void): Answering =>
  (body, response) => {
    if (body?.stream !== true) return false;
    answer(body, response);
    return true;
  };

/** Answers requests that `wanted` matches. */
const onBody =
  (wanted: (body: ChatBody) => boolean, answer: (body: ChatBody, response: ServerResponse) => void): Answering =>
  (body, response) => {
    if (body === undefined || !Array.isArray(body.messages) || !wanted(body)) return false;
    answer(body, response);
    return true;
  };

const refuse =
  (status: number, message: string) =>
  (_body: ChatBody, response: ServerResponse): void =>
    sendJson(response, status, { error: { message, type: 'invalid_request_error' } });

const asText = (body: ChatBody): string => JSON.stringify(body);

const faults: readonly (readonly [name: string, odd: Answering, about: CheckName | 'credential', verdict: Verdict, words: RegExp])[] = [
  ['a refused key is named by its variable', refuseKey, 'credential', 'bad', /401.*the key in ODD_KEY is refused.*restart Weir/],
  ['a web page instead of an interface', page, 'credential', 'bad', /HTML|html.*check baseUrl/],
  [
    'a missing model',
    onBody(() => true, refuse(404, 'The model `tiny` does not exist')),
    'reply',
    'bad',
    /no such model or route.*--model NAME/,
  ],
  [
    'an account without credit',
    onBody(() => true, refuse(429, 'You exceeded your current quota')),
    'reply',
    'bad',
    /out of credit.*billing/,
  ],
  ['a server that fails', onBody(() => true, refuse(500, 'CUDA out of memory')), 'reply', 'bad', /500.*CUDA.*log/],
  [
    'no usage in the stream',
    onStream((body, response) =>
      sendStream(
        response,
        streamEvents(body).filter((data) => !data.includes('"usage"')),
      ),
    ),
    'stream-usage',
    'bad',
    /stream has no usage.*streamOptions/,
  ],
  [
    'no usage in the reply',
    onBody(
      ({ stream }) => stream !== true,
      (body, response) => sendJson(response, 200, { ...wholeReply(body), usage: undefined }),
    ),
    'usage',
    'bad',
    /reply has no usage.*estimate/,
  ],
  [
    'counts that are not numbers',
    onBody(
      ({ stream }) => stream !== true,
      (body, response) => sendJson(response, 200, { ...wholeReply(body), usage: { prompt_tokens: '12', completion_tokens: -3 } }),
    ),
    'usage',
    'bad',
    /not integers/,
  ],
  [
    'no terminal mark',
    onStream((body, response) => sendStream(response, streamEvents(body).slice(0, 2))),
    'stream',
    'bad',
    /without its terminal mark.*\[DONE\].*truncated/,
  ],
  [
    'a stream of the wrong content type',
    onStream((body, response) => sendStream(response, streamEvents(body), 'text/plain')),
    'stream',
    'bad',
    /comes as text\/plain.*content-type/,
  ],
  [
    'an invalid stream',
    onStream((body, response) => sendJson(response, 200, wholeReply(body))),
    'stream',
    'bad',
    /the answer is a whole reply.*does not stream/,
  ],
  ['broken events', onStream((_body, response) => sendStream(response, ['{"id":', '[DONE]'])), 'stream', 'bad', /events are not JSON/],
  [
    'an error in the stream',
    onStream((_body, response) => sendStream(response, [JSON.stringify({ error: { message: `overloaded ${secret}` } })])),
    'stream',
    'bad',
    /ends in an error: overloaded/,
  ],
  [
    'stream_options refused',
    onStream(refuse(400, 'Extra inputs are not permitted: stream_options')),
    'stream',
    'bad',
    /quirks: \{ streamOptions: false \} for upstream odd/,
  ],
  [
    'a schema ignored',
    onBody(
      (body) => body.response_format !== undefined,
      (body, response) => sendJson(response, 200, wholeReply(body, { text: 'Sure! Green is nice.' })),
    ),
    'json',
    'bad',
    /schema is ignored.*quirks: \{ structuredOutput: false \}/,
  ],
  [
    'a schema that is partly ignored',
    onBody(
      (body) => body.response_format !== undefined,
      (body, response) => sendJson(response, 200, wholeReply(body, { text: '{"colour":"mauve"}' })),
    ),
    'json',
    'bad',
    /none of the three/,
  ],
  [
    'a forced tool call that does not come',
    onBody(
      (body) => body.tools !== undefined,
      (body, response) => sendJson(response, 200, wholeReply(body, { text: 'I cannot' })),
    ),
    'tool',
    'bad',
    /the reply has none.*forcedToolChoice: false/,
  ],
  [
    'tool_choice refused',
    onBody((body) => body.tools !== undefined, refuse(400, 'tool_choice: only auto is supported')),
    'tool',
    'bad',
    /quirks: \{ forcedToolChoice: false \}/,
  ],
  [
    'arguments that are not JSON',
    onBody(
      (body) => body.tools !== undefined,
      (body, response) =>
        sendJson(response, 200, wholeReply(body, { call: { name: 'get_weather', arguments: '{city: Paris' }, finish: 'tool_calls' })),
    ),
    'tool',
    'bad',
    /arguments of the call are not a JSON object/,
  ],
  [
    'a call with a wrong stop reason',
    onBody(
      (body) => body.tools !== undefined,
      (body, response) => sendJson(response, 200, wholeReply(body, { ...answerOf(body), finish: 'length' })),
    ),
    'tool',
    'bad',
    /its stop reason is another/,
  ],
  [
    'a model without image input',
    onBody((body) => asText(body).includes('image_url'), refuse(400, 'This model does not support image input')),
    'image',
    'none',
    /does not accept images/,
  ],
  [
    'a limit that is ignored',
    onBody(
      (body) => asText(body).includes('Count from 1'),
      (body, response) =>
        sendJson(response, 200, {
          ...wholeReply(body, { text: 'one, two' }),
          usage: { prompt_tokens: 9, completion_tokens: 500, total_tokens: 509 },
        }),
    ),
    'stop',
    'bad',
    /limit of 16 tokens was ignored: the reply has 500.*outputLimitField/,
  ],
  [
    'a system prompt that is dropped',
    onBody(
      (body) => asText(body).includes('"system"'),
      (body, response) =>
        sendJson(response, 200, { ...wholeReply(body), usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
    ),
    'system',
    'bad',
    /not counted.*systemRole/,
  ],
  [
    'characters that break',
    onStream((body, response) => sendStream(response, streamEvents(body, { text: 'Gr\uFFFD\uFFFDe and more' }))),
    'utf8',
    'bad',
    /U\+FFFD/,
  ],
  [
    'an error of another shape',
    (body, response) => {
      if (body === undefined || Array.isArray(body.messages)) return false;
      sendJson(response, 422, { detail: 'bad messages' });
      return true;
    },
    'error',
    'warning',
    /shape of Chat/,
  ],
  [
    'a server without validation',
    (body, response) => {
      if (body === undefined || Array.isArray(body.messages)) return false;
      sendJson(response, 200, wholeReply({ messages: [] }));
      return true;
    },
    'error',
    'bad',
    /was accepted/,
  ],
  [
    'a compressed reply',
    onBody(
      () => true,
      (body, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end(gzipSync(JSON.stringify(wholeReply(body)))),
    ),
    'reply',
    'bad',
    /compressed \(gzip\).*compression off/,
  ],
  [
    'an invalid list of models',
    (body, response) => {
      if (body === undefined) sendJson(response, 200, { status: 'ok' });
      return body === undefined;
    },
    'credential',
    'warning',
    /not a list of models.*another service/,
  ],
  [
    'a redirect',
    (_body, response) => {
      response.writeHead(301, { location: 'https://elsewhere.example/v1' }).end();
      return true;
    },
    'credential',
    'bad',
    /redirects \(301\) to https:\/\/elsewhere/,
  ],
];

describe('errors of an upstream', { concurrency: 4 }, () => {
  for (const [name, odd, about, verdict, words] of faults) {
    test(name, async () => {
      await using server = await startOddServer((_request, body, response) => odd(body, response));
      const report = await examine(configOf(server.url));
      const said = told(report, about);
      assert.equal(said.verdict, verdict, `${said.words}\n${show(report)}`);
      assert.match(said.words, words);
      assert.equal(report.healthy, verdict !== 'bad', show(report));
      const shown = `${show(report)}${JSON.stringify(report)}`;
      assert.ok(!shown.includes(secret), 'no secret is shown');
      assert.ok(!shown.includes('\u001b') && !shown.includes('\\u001b'), 'text of others cannot control the terminal');
    });
  }

  test('if the first call fails, the others are not run', async () => {
    await using server = await startOddServer((_request, body, response) => onBody(() => true, refuse(500, 'no'))(body, response));
    const report = await examine(configOf(server.url));
    assert.match(told(report, 'tool').words, /not run: the first call failed/);
    assert.equal(server.requests().length, 2);
  });

  test('a stream that never ends stops at its time-out, and the report says how far it came', async () => {
    await using server = await startOddServer((_request, body, response) =>
      onStream((asked, answer) => {
        answer.writeHead(200, { 'content-type': 'text/event-stream' }).write(`data: ${streamEvents(asked)[0] ?? ''}\n\n`);
      })(body, response),
    );
    const report = await examine(configOf(server.url), { timeoutMs: 6000, checks: ['stream'] });
    assert.match(told(report, 'stream').words, /sent 1 events, it was not finished.*within 6 s/);
  });
});
