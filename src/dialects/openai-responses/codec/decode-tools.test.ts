import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Tool } from '../../../inference/inference-request.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import { decode, encode, withoutPaths } from './testing/test-kit.ts';

describe('tools', () => {
  const parameters = { type: 'object', properties: {} };
  const toolsOf = (...tools: JsonObject[]): unknown => withoutPaths(decode({ tools }).tools);

  test('functions keep strict as it was sent', () => {
    assert.deepEqual(
      toolsOf(
        { type: 'function', name: 'a', parameters, strict: true, description: 'A.' },
        { type: 'function', name: 'b', parameters: null, strict: false },
      ),
      [
        { kind: 'function', name: 'a', description: 'A.', parameters, strict: true },
        { kind: 'function', name: 'b', strict: false },
      ],
    );
  });

  test('a custom tool is a function with one text, and its description contains the grammar', () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
    const request = decode({ tools: [{ type: 'custom', name: 'apply', description: 'Applies.', format }] });
    const [tool] = request.tools;
    assert.ok(tool?.kind === 'function');
    assert.deepEqual([tool.name, tool.parameters?.required], ['apply', ['input']]);
    assert.equal(tool.description, 'Applies.\n\nThe input must follow this grammar (lark):\nstart: "x"');
    assert.deepEqual(request.vendorFields, [{ field: 'tools[0].format', value: format, weight: 'matters' }]);
  });

  test('functions of a namespace have its name and description, as Codex sends them', () => {
    const nested = { type: 'function', name: 'js', description: 'Runs.', parameters };
    assert.deepEqual(toolsOf({ type: 'namespace', name: 'mcp__node', description: 'Node.', tools: [nested] }), [
      { kind: 'function', name: 'mcp__node__js', description: 'Node.\n\nRuns.', parameters },
    ]);
  });

  test('every form of web search is read', () => {
    const user_location = { type: 'approximate', city: 'Bern', country: 'CH', region: null };
    assert.deepEqual(
      toolsOf(
        {
          type: 'web_search',
          filters: { allowed_domains: ['a.org'], blocked_domains: ['b.org'] },
          user_location,
          search_context_size: 'low',
        },
        { type: 'web_search_preview', domains: ['c.org'] },
      ),
      [
        {
          kind: 'web-search',
          allowedDomains: ['a.org'],
          blockedDomains: ['b.org'],
          userLocation: { city: 'Bern', country: 'CH' },
          contextSize: 'low',
        },
        { kind: 'web-search', allowedDomains: ['c.org'] },
      ],
    );
  });

  test('a fresh sandbox is code execution, and tools of the vendor keep their form', () => {
    const wire = { type: 'local_shell' };
    assert.deepEqual(toolsOf({ type: 'code_interpreter', container: { type: 'auto' } }, wire, { type: 'apply_patch' }), [
      { kind: 'code-execution' },
      { kind: 'vendor', name: 'local_shell', wire },
      { kind: 'vendor', name: 'apply_patch', wire: { type: 'apply_patch' } },
    ]);
  });

  const choices: readonly (readonly [JsonValue, unknown])[] = [
    ['auto', { kind: 'auto' }],
    ['none', { kind: 'none' }],
    ['required', { kind: 'required' }],
    [
      { type: 'function', name: 'f' },
      { kind: 'function', name: 'f' },
    ],
    [
      { type: 'custom', name: 'f' },
      { kind: 'function', name: 'f' },
    ],
    [
      {
        type: 'allowed_tools',
        mode: 'required',
        tools: [
          { type: 'function', name: 'f' },
          { type: 'custom', name: 'g' },
        ],
      },
      { kind: 'allowed', names: ['f', 'g'], required: true },
    ],
  ];
  for (const [wire, choice] of choices) {
    test(`tool_choice ${JSON.stringify(wire)} is read`, () => assert.deepEqual(decode({ tool_choice: wire }).toolChoice, choice));
  }

  test('a file search is read with its filters', () => {
    const filters = {
      type: 'and',
      filters: [
        { type: 'eq', key: 'kind', value: 'report' },
        {
          type: 'or',
          filters: [
            { type: 'in', key: 'year', value: [2024, 2025] },
            { type: 'gt', key: 'size', value: 3 },
          ],
        },
      ],
    };
    const wire = {
      type: 'file_search',
      vector_store_ids: ['vs_1'],
      filters,
      max_num_results: 5,
      ranking_options: { ranker: 'auto', score_threshold: 0.5 },
    };
    const tool: Tool = {
      kind: 'file-search',
      storeIds: ['vs_1'],
      filter: {
        kind: 'and',
        filters: [
          { kind: 'compare', operator: 'eq', key: 'kind', value: 'report' },
          {
            kind: 'or',
            filters: [
              { kind: 'compare', operator: 'in', key: 'year', value: [2024, 2025] },
              { kind: 'compare', operator: 'gt', key: 'size', value: 3 },
            ],
          },
        ],
      },
      resultsMax: 5,
      ranker: 'auto',
      scoreThreshold: 0.5,
    };
    assert.deepEqual(toolsOf(wire), [tool]);
    assert.deepEqual(encode({ tools: [tool] }, { fileSearch: true }).body.tools, [wire]);
    assert.deepEqual(encode({ tools: [tool] }).notes, ['dropped tools']);
  });

  test('the settings of image generation have neutral names, and its model is named as lost', () => {
    const wire = {
      type: 'image_generation',
      model: 'gpt-image-1',
      size: '1024x1536',
      quality: 'high',
      background: 'auto',
      output_format: 'webp',
      output_compression: 80,
      partial_images: 2,
      action: 'edit',
      input_image_mask: { image_url: 'data:image/png;base64,iVBO' },
    };
    const { tools, vendorFields } = decode({ tools: [wire] });
    const settings = {
      size: { width: 1024, height: 1536 },
      quality: 'high',
      outputFormat: 'webp',
      outputCompression: 80,
      mask: { kind: 'inline', mediaType: 'image/png', data: 'iVBO' },
    };
    assert.deepEqual(withoutPaths(tools), [{ kind: 'image-generation', settings, action: 'edit', partialImages: 2, wire }]);
    assert.deepEqual(
      vendorFields.map(({ field }) => field),
      ['tools[0].model'],
    );
    assert.deepEqual(encode({ tools }, { imageGeneration: true }).body.tools, [wire]);
    assert.deepEqual(encode({ tools }).notes, ['dropped tools[0]']);
  });

  for (const [member, value] of [
    ['size', 'huge'],
    ['quality', 'best'],
    ['output_compression', 101],
    ['partial_images', 4],
    ['input_image_mask', { file_id: 'file_1' }],
  ] as const)
    test(`a ${member} of image generation that no image can have is refused with its field`, () => {
      const tool = { type: 'image_generation', [member]: value };
      assert.throws(() => decode({ tools: [tool] }), { code: 'invalid_value', param: `tools[0].${member}` });
    });

  for (const [type, tool] of [
    ['web_search_preview', 'web-search'],
    ['web_search_2025_08_26', 'web-search'],
    ['file_search', 'file-search'],
    ['code_interpreter', 'code-execution'],
    ['image_generation', 'image-generation'],
  ] as const) {
    test(`the choice of ${type} has a neutral name`, () =>
      assert.deepEqual(decode({ tool_choice: { type } }).toolChoice, { kind: 'built-in', tool }));
  }

  test('the choice of a tool that only the vendor has is noted as lost', () => {
    const choice = { type: 'shell' };
    assert.deepEqual(decode({ tool_choice: choice }).vendorFields, [{ field: 'tool_choice', value: choice, weight: 'matters' }]);
  });
});
