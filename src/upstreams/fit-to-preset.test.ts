import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { findBasePaths, fitToPreset } from './fit-to-preset.ts';
import { upstreamVendors } from './registry.ts';
import type { ServerPreset } from './upstream-vendor.ts';

const vendor = upstreamVendors['openai-compatible'];
const presets = vendor.presets ?? {};

/** The addresses of a preset's dialects, each with the header of its key. */
function addressesOf(preset: ServerPreset | undefined): Readonly<Record<string, string>> {
  const base = new URL(preset?.baseUrl ?? preset?.exampleUrl ?? '');
  const fitted = fitToPreset(vendor, preset);
  const { basePath, basePaths } = findBasePaths(base.pathname, preset?.addresses);
  return Object.fromEntries(
    fitted.dialects.map((dialect) => {
      const path = fitted.locate({ dialect, operation: 'generate', upstreamModel: 'm' }, {});
      const [header] = Object.keys(fitted.credentialHeaders('k', dialect));
      return [dialect, `${base.host}${basePaths?.[dialect] ?? basePath}${path} ${header}`];
    }),
  );
}

/** Where the documentation of each service says that each dialect is. */
const documented: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  deepseek: {
    'openai-chat': 'api.deepseek.com/chat/completions authorization',
    'anthropic-messages': 'api.deepseek.com/anthropic/v1/messages x-api-key',
  },
  moonshot: {
    'openai-chat': 'api.moonshot.ai/v1/chat/completions authorization',
    'openai-responses': 'api.moonshot.ai/v1/responses authorization',
    'anthropic-messages': 'api.moonshot.ai/anthropic/v1/messages authorization',
  },
  zai: {
    'openai-chat': 'api.z.ai/api/paas/v4/chat/completions authorization',
    'anthropic-messages': 'api.z.ai/api/anthropic/v1/messages authorization',
  },
  'zai-coding': {
    'openai-chat': 'api.z.ai/api/coding/paas/v4/chat/completions authorization',
    'anthropic-messages': 'api.z.ai/api/anthropic/v1/messages authorization',
  },
  zhipu: {
    'openai-chat': 'open.bigmodel.cn/api/paas/v4/chat/completions authorization',
    'anthropic-messages': 'open.bigmodel.cn/api/anthropic/v1/messages authorization',
  },
  minimax: {
    'anthropic-messages': 'api.minimax.io/anthropic/v1/messages authorization',
    'openai-chat': 'api.minimax.io/v1/chat/completions authorization',
  },
  dashscope: {
    'openai-chat': 'dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions authorization',
    'anthropic-messages': 'dashscope-intl.aliyuncs.com/apps/anthropic/v1/messages x-api-key',
  },
  tencent: { 'anthropic-messages': 'api.lkeap.cloud.tencent.com/api/anthropic/v1/messages authorization' },
  snowflake: {
    'openai-chat': 'account.snowflakecomputing.com/api/v2/cortex/v1/chat/completions authorization',
    'anthropic-messages': 'account.snowflakecomputing.com/api/v2/cortex/v1/messages authorization',
  },
  databricks: {
    'openai-chat': 'workspace.cloud.databricks.com/ai-gateway/mlflow/v1/chat/completions authorization',
    'anthropic-messages': 'workspace.cloud.databricks.com/ai-gateway/anthropic/v1/messages authorization',
  },
  huggingface: {
    'openai-chat': 'router.huggingface.co/v1/chat/completions authorization',
    'openai-responses': 'router.huggingface.co/v1/responses authorization',
  },
  litellm: {
    'openai-chat': '127.0.0.1:4000/v1/chat/completions authorization',
    'openai-responses': '127.0.0.1:4000/v1/responses authorization',
    'anthropic-messages': '127.0.0.1:4000/v1/messages x-api-key',
    'gemini-generate-content': '127.0.0.1:4000/v1beta/models/m:generateContent x-goog-api-key',
  },
  weir: {
    'openai-chat': '127.0.0.1:8080/v1/chat/completions authorization',
    'openai-responses': '127.0.0.1:8080/v1/responses authorization',
    'anthropic-messages': '127.0.0.1:8080/v1/messages x-api-key',
    'gemini-generate-content': '127.0.0.1:8080/v1beta/models/m:generateContent x-goog-api-key',
  },
};

describe('presets with an address for each dialect', () => {
  for (const [name, expected] of Object.entries(documented)) {
    test(`${name} is called where its documentation says, with the key in its header`, () =>
      assert.deepEqual(addressesOf(presets[name]), expected));
  }

  test('every preset with addresses is in the table', () => {
    const named = Object.entries(presets).filter(([, { addresses }]) => addresses !== undefined);
    assert.deepEqual(named.map(([name]) => name).toSorted(), Object.keys(documented).toSorted());
  });

  test('only a gateway counts tokens, so that a count at another service is estimated and never answered 404', () => {
    const counting = Object.entries(presets).flatMap(([name, preset]) => {
      const { locate } = fitToPreset(vendor, preset);
      const path = locate({ dialect: 'anthropic-messages', operation: 'count-tokens', upstreamModel: 'm' }, {});
      return preset.addresses !== undefined && path !== undefined ? [name] : [];
    });
    assert.deepEqual(counting, ['litellm', 'weir']);
  });

  test('a dialect that the service does not speak has no route', () => {
    const { locate } = fitToPreset(vendor, presets['tencent']);
    assert.equal(locate({ dialect: 'openai-chat', operation: 'generate', upstreamModel: 'm' }, {}), undefined);
  });

  test('a service that lists no models is not asked for them', () => {
    assert.equal(fitToPreset(vendor, presets['snowflake']).modelListPath, undefined);
    assert.equal(fitToPreset(vendor, presets['moonshot']).modelListPath, '/models');
  });

  test('a preset without addresses leaves dialects and routes as they are', () =>
    assert.deepEqual(fitToPreset(vendor, presets['groq']), vendor));
});

describe('base paths of dialects', () => {
  const addresses = presets['moonshot']?.addresses;
  const moonshot = { 'openai-chat': '/v1', 'openai-responses': '/v1', 'anthropic-messages': '/anthropic/v1' };

  for (const pathname of ['/', '', '/v1', '/v1/', '/anthropic/v1', '/anthropic/v1/']) {
    test(`the operator may write "${pathname}" for another host of the service`, () =>
      assert.deepEqual(findBasePaths(pathname, addresses), { basePath: '/v1', basePaths: moonshot }));
  }

  for (const pathname of ['/kimi', '/kimi/v1', '/kimi/anthropic/v1']) {
    test(`"${pathname}" is a path in front of the service`, () =>
      assert.deepEqual(findBasePaths(pathname, addresses), {
        basePath: '/kimi/v1',
        basePaths: { 'openai-chat': '/kimi/v1', 'openai-responses': '/kimi/v1', 'anthropic-messages': '/kimi/anthropic/v1' },
      }));
  }

  test('deepseek without and with /v1 is the same', () => {
    const expected = { basePath: '', basePaths: { 'openai-chat': '', 'anthropic-messages': '/anthropic/v1' } };
    for (const pathname of ['/', '/v1']) assert.deepEqual(findBasePaths(pathname, presets['deepseek']?.addresses), expected);
  });

  test('without addresses of its own, an upstream is below the configured path', () =>
    assert.deepEqual(findBasePaths('/openai/v1/', undefined), { basePath: '/openai/v1' }));
});
