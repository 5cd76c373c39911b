import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { BuiltInToolKind } from '../../../../inference/inference-request.ts';
import { createFakeUpstream } from '../../../attempts/exchange/testing/fake-exchange.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { chooseGatewayTools, type ToolRoadOptions } from './choose-tool-road.ts';

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

const cases: readonly (readonly [what: string, options: Partial<ToolRoadOptions>, road: string])[] = [
  ['every vendor can', { targets: [able, able] }, 'vendor'],
  ['one vendor cannot', { targets: [able, unable] }, 'gateway: web-search'],
  ['one vendor cannot, nor can the gateway', { targets: [able, unable], runs: [] }, 'vendor'],
  ['nobody can', { targets: [unable], runs: [] }, 'refused'],
  ['the gateway shall', { modes: { 'web-search': 'gateway' } }, 'gateway: web-search'],
  ['the gateway shall and cannot', { modes: { 'web-search': 'gateway' }, runs: [] }, 'refused'],
  ['the vendor shall and cannot', { targets: [unable], modes: { 'web-search': 'native' } }, 'refused'],
  ['it is off', { modes: { 'web-search': 'off' } }, 'refused'],
  ['the model says more than the default', { modes: { 'web-search': 'auto' }, defaults: { 'web-search': 'off' } }, 'vendor'],
  ['the default says off', { defaults: { 'web-search': 'off' } }, 'refused'],
  ['files are here', { kinds: ['file-search'] }, 'gateway: file-search'],
  ['files are at the vendor alone', { kinds: ['file-search'], runs: [] }, 'vendor'],
  ['files are here, and a search is combined with them', { kinds: ['file-search', 'web-search'] }, 'gateway: file-search'],
  [
    'files are here, and the search is the vendor’s',
    { kinds: ['file-search', 'web-search'], runs: ['file-search'] },
    'gateway: file-search',
  ],
  [
    'files are here, and the search has to be the vendor’s',
    { kinds: ['file-search', 'web-search'], modes: { 'web-search': 'native' } },
    'gateway: file-search',
  ],
  [
    'the vendor searches and runs code, and reads no pages',
    { kinds: ['web-search', 'code-execution', 'url-context'], targets: [targetWith('web-search', 'code-execution')] },
    'gateway: url-context',
  ],
];

for (const [what, options, road] of cases) {
  test(`who runs a tool: ${what}: ${road}`, () => {
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
    if (road === 'refused') assert.throws(choose, { code: 'tool_unavailable', status: 400 });
    else assert.equal(choose(), road);
  });
}
