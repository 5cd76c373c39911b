import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { BuiltInToolKind } from '../../../../inference/inference-request.ts';
import { createFakeUpstream } from '../../../attempts/exchange/testing/fake-exchange.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { chooseGatewayTools, type ToolStrategyOptions } from './choose-tool-strategy.ts';

const client = { send: () => {}, close: () => Promise.resolve() };

/** A target whose vendor runs these tools. */
function targetWith(...kinds: readonly BuiltInToolKind[]): Target {
  const upstream = createFakeUpstream({}, client);
  const traitsOf: typeof upstream.traitsOf = (model) => ({
    ...upstream.traitsOf(model),
    webSearch: kinds.includes('web-search'),
    codeExecution: kinds.includes('code-execution'),
    urlContext: kinds.includes('url-context'),
  });
  const vendor = { ...upstream.vendor, keepsResponses: kinds.includes('file-search') };
  return { upstream: { ...upstream, vendor, traitsOf }, upstreamModel: 'm' };
}

const all = ['web-search', 'code-execution', 'file-search', 'url-context'] as const;
const able = targetWith(...all);
const unable = targetWith();

const cases: readonly (readonly [situation: string, options: Partial<ToolStrategyOptions>, runner: string])[] = [
  ['every vendor can', { targets: [able, able] }, 'vendor'],
  ['one vendor cannot', { targets: [able, unable] }, 'gateway: web-search'],
  ['one vendor cannot, nor can the gateway', { targets: [able, unable], runs: [] }, 'vendor'],
  ['neither vendor nor gateway can', { targets: [unable], runs: [] }, 'refused'],
  ['the gateway must', { modes: { 'web-search': 'gateway' } }, 'gateway: web-search'],
  ['the gateway must and cannot', { modes: { 'web-search': 'gateway' }, runs: [] }, 'refused'],
  ['the vendor must and cannot', { targets: [unable], modes: { 'web-search': 'native' } }, 'refused'],
  ['the tool is off', { modes: { 'web-search': 'off' } }, 'refused'],
  ['the model’s setting overrides the default', { modes: { 'web-search': 'auto' }, defaults: { 'web-search': 'off' } }, 'vendor'],
  ['the default is off', { defaults: { 'web-search': 'off' } }, 'refused'],
  ['files are in the gateway', { kinds: ['file-search'] }, 'gateway: file-search'],
  ['files are only at the vendor', { kinds: ['file-search'], runs: [] }, 'vendor'],
  ['files are in the gateway, and a search is combined with them', { kinds: ['file-search', 'web-search'] }, 'gateway: file-search'],
  [
    'files are in the gateway, and the vendor runs the search',
    { kinds: ['file-search', 'web-search'], runs: ['file-search'] },
    'gateway: file-search',
  ],
  [
    'files are in the gateway, and the vendor must run the search',
    { kinds: ['file-search', 'web-search'], modes: { 'web-search': 'native' } },
    'gateway: file-search',
  ],
  [
    'the vendor searches and runs code, and reads no pages',
    { kinds: ['web-search', 'code-execution', 'url-context'], targets: [targetWith('web-search', 'code-execution')] },
    'gateway: url-context',
  ],
];

for (const [situation, options, runner] of cases) {
  test(`if ${situation}, the choice is ${runner}`, () => {
    const choose = (): string => {
      const kinds = chooseGatewayTools({
        kinds: ['web-search'],
        dialect: 'openai-responses',
        targets: [able],
        modes: {},
        defaults: {},
        runs: all,
        ...options,
      });
      return kinds.length === 0 ? 'vendor' : `gateway: ${kinds.join(', ')}`;
    };
    if (runner === 'refused') assert.throws(choose, { code: 'tool_unavailable', status: 400 });
    else assert.equal(choose(), runner);
  });
}
