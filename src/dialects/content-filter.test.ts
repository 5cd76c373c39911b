import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { readFilterRefusal } from './content-filter.ts';
import { chatDialects } from './registry.ts';

const words = "The response was filtered due to the prompt triggering the service's policy.";

/** As Azure refuses a prompt. */
const refusal = {
  error: {
    message: words,
    type: null,
    param: 'prompt',
    code: 'content_filter',
    status: 400,
    innererror: {
      code: 'ResponsibleAIPolicyViolation',
      content_filter_result: {
        hate: { filtered: false, severity: 'safe' },
        violence: { filtered: true, severity: 'medium' },
        jailbreak: { filtered: true, detected: true },
      },
    },
  },
};

describe('refusals of content filters', () => {
  test('the categories that were found are named, with their severity', () =>
    assert.equal(readFilterRefusal(refusal), 'violence: medium, jailbreak'));

  test('a service that only sends the code is recognised too', () => {
    assert.equal(readFilterRefusal({ error: { code: 'content_policy_violation', message: 'no' } }), '');
    assert.equal(readFilterRefusal({ error: { code: null, innererror: { code: 'ResponsibleAIPolicyViolation' } } }), '');
  });

  test('findings of Responses are in a list', () => {
    const content_filters = [{ blocked: true, content_filter_results: { sexual: { filtered: true, severity: 'high' } } }];
    assert.equal(readFilterRefusal({ error: { code: 'content_filter', content_filters } }), 'sexual: high');
  });

  for (const other of [undefined, 'text', [], {}, { error: 'text' }, { error: { code: 400 } }, { error: { code: 'invalid_prompt' } }])
    test(`${JSON.stringify(other)} is no such refusal`, () => assert.equal(readFilterRefusal(other), undefined));

  for (const upstream of ['openai-chat', 'openai-responses'] as const) {
    test(`${upstream}: the error has a code of its own, the vendor's message, and the findings for the log`, () => {
      const error = chatDialects[upstream].codec.decodeError({ status: 400, body: refusal });
      assert.equal(error.code, 'upstream_content_filtered');
      assert.equal(error.status, 400);
      assert.equal(error.message, words);
      assert.match(error.internal ?? '', /violence: medium, jailbreak/);
    });

    for (const [client, expected] of [
      ['openai-chat', { code: 'content_filter', type: 'invalid_request_error' }],
      ['openai-responses', { code: 'content_filter', type: 'invalid_request_error' }],
      ['anthropic-messages', { type: 'invalid_request_error' }],
      ['gemini-generate-content', { code: 400, status: 'INVALID_ARGUMENT' }],
    ] as const) {
      test(`${upstream} to ${client}: the client reads a refusal of its request, with the vendor's message`, () => {
        const error = chatDialects[upstream].codec.decodeError({ status: 400, body: refusal });
        const reply = chatDialects[client].voice.encodeError(error, 'req_1');
        const body = JSON.parse(reply.body.toString()) as { readonly error: Readonly<Record<string, unknown>> };
        assert.equal(reply.status, 400);
        assert.equal(body.error['message'], words);
        for (const [member, value] of Object.entries(expected)) assert.equal(body.error[member], value, member);
      });
    }
  }
});
