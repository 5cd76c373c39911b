import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { ConfigError, type ConfigProblem } from './config-error.ts';
import { readConfig } from './read-config.ts';

const variables: Readonly<Record<string, string>> = { KEY: 'sk-1', URL: 'http://127.0.0.1:9/v1', ODD: 'a: "b" ${KEY} # c' };
const read = (text: string) => readConfig({ text, file: 'weir.yaml', variable: (name) => variables[name] });

function problems(text: string): readonly ConfigProblem[] {
  try {
    read(text);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.problems;
  }
  assert.fail('the configuration was accepted');
}

const upstream = `upstreams:
  one:
    vendor: openai
    apiKey: k
`;

describe('a good configuration', () => {
  test('an empty file is valid', () => {
    for (const text of ['', '\n', '# only a comment\n', '{}', '---\n', 'null']) assert.deepEqual(read(text), {}, JSON.stringify(text));
  });

  test('YAML and JSON give the same result', () => {
    const expected = { upstreams: { one: { vendor: 'openai', apiKey: 'k' } } };
    assert.deepEqual(read(upstream), expected);
    assert.deepEqual(read(JSON.stringify(expected)), expected);
  });

  test('every field is accepted', () => {
    const text = `
upstreams:
  local:
    vendor: openai-compatible
    baseUrl: http://127.0.0.1:8000/v1
    dialects: [openai-chat, anthropic-messages]
    forwardHeaders: [x-my-*, x-tenant]
    preset: vllm
    discoverModels: true
    quirks:
      outputTokensMax: 8192
      reasoning: effort
      efforts: [low, high]
      alwaysReasons: true
      fixedSampling: false
      structuredOutput: true
      jsonSchemaTools: true
      fetchesUrls: true
      imagesInToolResults: false
      prefill: false
      webSearch: false
      codeExecution: false
      requiresProofs: false
      outputLimitField: max_completion_tokens
      systemRole: developer
      streamOptions: false
      parallelToolCallsField: false
      forcedToolChoice: false
      reasoningField: think
      reasoningHistoryField: reasoning_content
      acceptsTopK: true
models:
  "org/model:8b":
    targets: [{ upstream: local, model: m }]
    limits: { requestsPerMinute: 1, tokensPerMinute: 1, concurrency: 1 }
    price: { input: "0.1", output: "2", cacheRead: "0", cacheWrite5m: "1", cacheWrite1h: "1", inputAudio: "1", webSearch: "0.01" }
prices: prices.json
validation: documented
timeZone: Asia/Shanghai
limits: { requestBytesMax: 1024, replyBytesMax: 1024, eventBytesMax: 1024, perKey: { requestsPerMinute: 1, tokensPerMinute: 1, concurrency: 1 } }
trustedProxies: [10.0.0.0/8, "::1"]
timeouts: { connectMs: 10, firstByteMs: 10, idleMs: 10, totalMs: 10, stalledReaderMs: 10, heartbeatMs: 10, drainMs: 10 }
`;
    const config = read(text);
    assert.deepEqual(config.models?.['org/model:8b']?.targets, [{ upstream: 'local', model: 'm' }]);
    assert.equal(config.timeouts?.drainMs, 10);
  });
});

describe('references to the environment', () => {
  const key = (value: string): unknown => read(`upstreams: { one: { vendor: openai, apiKey: ${value} } }`).upstreams?.['one']?.apiKey;

  test('are replaced, also within text', () => {
    assert.equal(key('"${KEY}"'), 'sk-1');
    assert.equal(key("'${KEY}'"), 'sk-1');
    assert.equal(key('"a-${KEY}-${KEY}-b"'), 'a-sk-1-sk-1-b');
  });

  test('a fallback replaces an unset variable, and may contain everything except a closing brace', () => {
    assert.equal(key('"${NONE:-other}"'), 'other');
    assert.equal(key('"${KEY:-other}"'), 'sk-1');
    assert.equal(key('"x${NONE:-}"'), 'x');
    assert.equal(key('"${NONE:-http://h:1/v1}"'), 'http://h:1/v1');
  });

  test('$${ is a literal ${', () => {
    assert.equal(key('"$${KEY}"'), '${KEY}');
    assert.equal(key('"$${NONE:-x} ${KEY}"'), '${NONE:-x} sk-1');
    assert.equal(key('"$KEY ${} ${1A} $"'), '$KEY ${} ${1A} $');
  });

  test('the value of a variable is plain text: its syntax and its references are not interpreted', () => {
    assert.equal(key('"${ODD}"'), variables['ODD']);
  });

  test('every unset variable is named with its position', () => {
    const text = 'upstreams:\n  one:\n    vendor: openai\n    apiKey: "${NONE}"\n    baseUrl: "https://${ALSO_NONE}/v1"\n';
    assert.deepEqual(problems(text), [
      { line: 4, column: 13, path: '', message: 'environment variable NONE is not set' },
      { line: 5, column: 14, path: '', message: 'environment variable ALSO_NONE is not set' },
    ]);
  });

  test('references in keys are not replaced', () => {
    assert.deepEqual(Object.keys(read('models: { "${NONE}": { targets: [{ upstream: one }] } }').models ?? {}), ['${NONE}']);
  });
});

describe('problems are named with line, column and path', () => {
  for (const [name, text, line, column, path, message] of [
    ['broken YAML', 'upstreams:\n  one: [', 2, 9, '', /flow|\]/i],
    ['a duplicate key', 'timeZone: UTC\nvalidation: compatible\ntimeZone: UTC\n', 3, 1, '', /unique/i],
    ['a duplicate upstream', `${upstream}  one: { vendor: gemini }\n`, 5, 3, '', /unique/i],
    ['a tab for indentation', 'upstreams:\n\tone: {}\n', 2, 1, '', /tab/i],
    ['two documents', '{}\n---\n{}\n', 2, 1, '', /document/i],
    ['an unknown field', `${upstream}colour: red\n`, 5, 9, 'colour', /not a known field; there are: upstreams, models, /],
    ['an unknown field inside', 'upstreams:\n  one: { vendor: openai, apikey: k }\n', 2, 34, 'upstreams.one.apikey', /./],
    ['a list instead of a map', '- one\n- two\n', 1, 1, '', /object/i],
    ['a string instead of a map', 'hello\n', 1, 1, '', /object/i],
    ['an unknown vendor', 'upstreams:\n  one: { vendor: openia }\n', 2, 18, 'upstreams.one.vendor', /anthropic.*openai-compatible/],
    ['a missing vendor', 'upstreams:\n  one: { apiKey: k }\n', 2, 8, 'upstreams.one.vendor', /required/],
    ['an empty upstream', 'upstreams:\n  one:\n', 2, 7, 'upstreams.one', /object/i],
    ['an empty key', 'upstreams:\n  one: { vendor: openai, apiKey: "" }\n', 2, 34, 'upstreams.one.apiKey', /./],
    [
      'an invalid address',
      'upstreams:\n  one: { vendor: openai, baseUrl: "https://" }\n',
      2,
      35,
      'upstreams.one.baseUrl',
      /must be a valid URL/,
    ],
    ['an address without scheme', 'upstreams:\n  one: { vendor: openai, baseUrl: example.com }\n', 2, 35, 'upstreams.one.baseUrl', /./],
    ['a server without address', 'upstreams:\n  one: { vendor: openai-compatible }\n', 2, 8, 'upstreams.one', /baseUrl is required/],
    [
      'an unknown preset',
      'upstreams:\n  one: { vendor: openai-compatible, preset: olama }\n',
      2,
      45,
      'upstreams.one.preset',
      /'ollama'.*'openrouter'.*but got 'olama'/,
    ],
    [
      'a preset of another vendor',
      'upstreams:\n  one: { vendor: openai, preset: vllm }\n',
      2,
      34,
      'upstreams.one.preset',
      /only for the vendor openai-compatible; this upstream is of openai/,
    ],
    [
      'a preset without an address',
      'upstreams:\n  one: { vendor: openai-compatible, preset: llama-cpp }\n',
      2,
      8,
      'upstreams.one',
      /baseUrl is required for the preset llama-cpp/,
    ],
    [
      'an unknown quirk',
      'upstreams:\n  one: { vendor: openai, quirks: { topK: true } }\n',
      2,
      42,
      'upstreams.one.quirks.topK',
      /not a known field; there are: outputTokensMax, .*acceptsTopK/,
    ],
    [
      'a quirk with an unknown value',
      'upstreams:\n  one: { vendor: openai, quirks: { reasoningField: thinking } }\n',
      2,
      52,
      'upstreams.one.quirks.reasoningField',
      /reasoning_effort.*but got 'thinking'/,
    ],
    [
      'model discovery at a vendor whose models are known',
      'upstreams:\n  one: { vendor: gemini, discoverModels: true }\n',
      2,
      42,
      'upstreams.one.discoverModels',
      /only for the vendor openai-compatible; the price book lists/,
    ],
    [
      'a credential beside a key',
      'upstreams:\n  one: { vendor: bedrock, region: us-east-1, apiKey: k, credential: { kind: aws } }\n',
      2,
      69,
      'upstreams.one.credential',
      /goes without apiKey/,
    ],
    [
      'a credential of another cloud',
      'upstreams:\n  one: { vendor: openai, credential: { kind: aws } }\n',
      2,
      38,
      'upstreams.one.credential',
      /is not for the vendor openai/,
    ],
    ['bedrock without a region', 'upstreams:\n  one: { vendor: bedrock }\n', 2, 8, 'upstreams.one', /region is required/],
    ['an unknown dialect', 'upstreams:\n  one: { vendor: openai, dialects: [chat] }\n', 2, 37, 'upstreams.one.dialects.0', /./],
    ['an empty list of dialects', 'upstreams:\n  one: { vendor: openai, dialects: [] }\n', 2, 36, 'upstreams.one.dialects', /./],
    [
      'a header in capitals',
      'upstreams:\n  one: { vendor: openai, forwardHeaders: [X-A] }\n',
      2,
      43,
      'upstreams.one.forwardHeaders.0',
      /./,
    ],
    [
      'a pattern for all headers',
      'upstreams:\n  one: { vendor: openai, forwardHeaders: ["*"] }\n',
      2,
      43,
      'upstreams.one.forwardHeaders.0',
      /./,
    ],
    [
      'a target with an unknown upstream',
      `${upstream}models:\n  m:\n    targets: [{ upstream: two }]\n`,
      7,
      27,
      'models.m.targets.0.upstream',
      /no upstream "two"; there are: one/,
    ],
    ['a model without targets', `${upstream}models:\n  m: { targets: [] }\n`, 6, 17, 'models.m.targets', /./],
    [
      'a price as a number',
      `${upstream}models:\n  m: { targets: [{ upstream: one }], price: { input: 1, output: "1" } }\n`,
      6,
      54,
      'models.m.price.input',
      /string/,
    ],
    [
      'a negative price',
      `${upstream}models:\n  m: { targets: [{ upstream: one }], price: { input: "-1", output: "1" } }\n`,
      6,
      54,
      'models.m.price.input',
      /./,
    ],
    [
      'a price without output',
      `${upstream}models:\n  m: { targets: [{ upstream: one }], price: { input: "1" } }\n`,
      6,
      45,
      'models.m.price.output',
      /required/,
    ],
    ['an unknown time zone', 'timeZone: Shanghai\n', 1, 11, 'timeZone', /IANA.*UTC/],
    ['an unknown mode', 'validation: strict\n', 1, 13, 'validation', /compatible.*documented/],
    ['a time below the minimum', 'timeouts: { idleMs: 1 }\n', 1, 21, 'timeouts.idleMs', /10/],
    ['a time with a fraction', 'timeouts: { idleMs: 10.5 }\n', 1, 21, 'timeouts.idleMs', /integer|whole/i],
    ['a time with a unit', 'timeouts: { idleMs: 10s }\n', 1, 21, 'timeouts.idleMs', /integer|number/i],
    ['a limit above the maximum', 'limits: { requestBytesMax: 99999999999 }\n', 1, 28, 'limits.requestBytesMax', /1073741824/],
    ['a rate of zero', 'limits: { perKey: { requestsPerMinute: 0 } }\n', 1, 40, 'limits.perKey.requestsPerMinute', /1/],
    [
      'an invalid network of a proxy',
      'trustedProxies: [10.0.0.0/40]\n',
      1,
      18,
      'trustedProxies.0',
      /an address or a network such as 10\.0\.0\.0\/8/,
    ],
    ['an upstream with a space in its name', "upstreams:\n  'a b': { vendor: openai }\n", 2, 10, 'upstreams.a b', /not a known field/],
    ['an alias without its anchor', 'upstreams: *nowhere\n', 1, 12, '', /alias/i],
  ] as const) {
    test(name, () => {
      const [first, ...more] = problems(text);
      assert.deepEqual(
        { line: first?.line, column: first?.column, path: first?.path },
        { line, column, path },
        first?.message ?? 'nothing',
      );
      assert.match(first?.message ?? '', message);
      assert.deepEqual(more, [], 'there is no second problem');
    });
  }

  test('one message lists all problems', () => {
    const text = `upstreams:
  one: { vendor: openai, colour: red }
timeouts: { idleMs: 1 }
validation: strict
`;
    assert.deepEqual(new Set(problems(text).map(({ line }) => line)), new Set([2, 3, 4]));
    assert.throws(() => read(text), {
      name: 'ConfigError',
      message:
        /^the configuration cannot be used:\n {2}weir\.yaml:2:34 upstreams\.one\.colour: [^\n]+(?:\n {2}weir\.yaml:\d+:\d+ [a-zA-Z.]+: [^\n]+){2}$/,
    });
  });

  test('anchors work, and their values may contain references', () => {
    const config = read('upstreams:\n  one: &one { vendor: openai, apiKey: "${KEY}" }\n  two: *one\n');
    assert.deepEqual(config.upstreams?.['two'], { vendor: 'openai', apiKey: 'sk-1' });
  });

  test('a problem does not contain a key', () => {
    const text = 'upstreams:\n  one: { vendor: openai, apiKey: [sk-secret-1] }\n  two: { vendor: openai, apiKey: "${KEY}", x: 1 }\n';
    assert.throws(
      () => read(text),
      (error: Error) => !/sk-secret-1|sk-1/.test(error.message),
    );
  });
});

describe('secrets by reference', () => {
  const openai = (key: string) => `upstreams: { one: { vendor: openai, apiKey: "${key}" } }\n`;
  const values: Readonly<Record<string, string>> = {
    'file:/key': 'a ${KEY} $$ {x}',
    'vault:a/b#db': 'p%40ss',
    'vault:a/b#wrong': 'not-an-address',
  };
  const find = (reference: string): string => {
    const value = values[reference];
    if (value === undefined) throw new Error(`the secret "\${${reference}}" cannot be read: no permission`);
    return value;
  };
  const readWith = (text: string) => readConfig({ text, file: 'weir.yaml', variable: (name) => variables[name], secrets: { find } });
  const refuse = (text: string): readonly (readonly [string, string])[] => {
    try {
      readWith(text);
    } catch (error) {
      assert.ok(error instanceof ConfigError, String(error));
      return error.problems.map(({ path, message }) => [path, message]);
    }
    assert.fail('the configuration was accepted');
  };

  test('stand for the whole of a value or a part of it, and are not searched for further references', () => {
    assert.equal(readWith(openai('${file:/key}')).upstreams?.['one']?.apiKey, 'a ${KEY} $$ {x}');
    const { database } = readWith('database: { url: "postgres://weir:${vault:a/b#db}@db/weir" }');
    assert.equal(database?.url, 'postgres://weir:p%40ss@db/weir');
    assert.equal(readWith(openai('$${file:/key}')).upstreams?.['one']?.apiKey, '${file:/key}');
  });

  test('may be missing where a key of an upstream is, and nowhere else; the error has the path', () => {
    assert.equal(readWith(openai('${file:/missing}')).upstreams?.['one']?.apiKey, '${file:/missing}');
    const missing = 'the secret "${file:/missing}" cannot be read: no permission';
    assert.deepEqual(refuse(openai('prefix-${file:/missing}')), [['upstreams.one.apiKey', missing]]);
    assert.deepEqual(refuse('database: { url: "${file:/missing}" }'), [['database.url', missing]]);
  });

  test('are refused where a value is shown, in their own section, and with a form that does not exist', () => {
    assert.match(refuse('timeZone: "${file:/key}"')[0]?.join(' ') ?? '', /^timeZone must not refer to a secret/);
    assert.match(
      refuse('upstreams: { one: { vendor: openai, baseUrl: "https://${file:/key}" } }')[0]?.join(' ') ?? '',
      /one\.baseUrl must not refer/,
    );
    const own = refuse('secrets: { vault: { login: { kind: token, token: "${file:/key}" } } }');
    assert.match(own[0]?.join(' ') ?? '', /^secrets\.vault\.login\.token must not be a secret by reference/);
    assert.match(refuse(openai('${valt:a/b#c}'))[0]?.join(' ') ?? '', /one\.apiKey there is no kind of secret "valt"/);
  });

  test('a mistake in the section of secrets is reported with a secret that could not be read', () => {
    const found = refuse(`secrets: { vault: { adress: "https://v" } }\ndatabase: { url: "\${vault:a/b#missing}" }`);
    assert.deepEqual(
      found.map(([path]) => path),
      ['database.url', 'secrets.vault.adress'],
    );
  });

  test('a value of the wrong form is refused without showing it', () => {
    assert.deepEqual(refuse('database: { url: "${vault:a/b#wrong}" }'), [['database.url', 'must match ^postgres(ql)?://']]);
  });

  test('a program that reads no secrets accepts them, and judges the rest', () => {
    const text = `database: { url: "\${vault:a/b#db}" }\n${openai('${file:/key}')}`;
    assert.equal(read(text).database?.url, '${vault:a/b#db}');
    assert.equal(problems(`${text}timeZone: Nowhere/Land\n`).length, 1);
  });
});
