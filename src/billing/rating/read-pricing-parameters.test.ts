import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';

import { GatewayError } from '../../inference/gateway-error.ts';
import { compileExpression, scopeOfCall } from './expressions/compile-expression.ts';
import { writeDecimal } from './fraction.ts';
import { readPricingParameters } from './read-pricing-parameters.ts';

const read = (body: string, ...pointers: string[]) => readPricingParameters(Buffer.from(body), pointers);

describe('M14 the parameters of a price are read from the body that is sent', () => {
  const rows: readonly (readonly [body: string, pointer: string, text: string | undefined])[] = [
    ['{"a":"hd"}', '/a', '"hd"'],
    ['{ "metadata" : { "quality" : "h\\u0064" } }', '/metadata/quality', '"hd"'],
    ['{"m\\u0065tadata":{"qu\\u0061lity":"hd"}}', '/metadata/quality', '"hd"'],
    ['{"metadata":{"quality":"hd"}}', '/quality', undefined],
    ['{"a":15}', '/a', '15'],
    ['{"a":1e1}', '/a', '1e1'],
    ['{"a":-0.5}', '/a', '-0.5'],
    ['{"a":"15"}', '/a', '"15"'],
    ['{"a":true}', '/a', 'true'],
    ['{"a":false}', '/a', 'false'],
    ['{"a":null}', '/a', undefined],
    ['{"a":[1,[2],3]}', '/a', '[3]'],
    ['{"a":[]}', '/a', '[0]'],
    ['{"a":{"b":1,"c":2}}', '/a', '{2}'],
    ['{"a":[5,{"b":7}]}', '/a/1/b', '7'],
    ['{"a":[5]}', '/a/1', undefined],
    ['{"a/b":{"~":1}}', '/a~1b/~0', '1'],
    ['{"a":"x"}', '/a/b', undefined],
    ['[1]', '/0', '1'],
    ['{"quality":1}', '/metadata/sub/quality', undefined],
    [`{"a":1${'0'.repeat(39)}.${'0'.repeat(23)}}`, '/a', `1${'0'.repeat(39)}.${'0'.repeat(23)}`],
    ['"a"', '/a', undefined],
    ['--boundary\r\nContent-Disposition: form-data; name="a"', '/a', undefined],
    ['', '/a', undefined],
    [`{"a":"${'x'.repeat(1000)}"}`, '/a', `"${'x'.repeat(256)}"`],
    ['{"__proto__":{"a":1}}', '/__proto__/a', '1'],
  ];
  for (const [body, pointer, text] of rows) {
    test(`${pointer} of ${body.slice(0, 60)}`, () =>
      assert.deepEqual(read(body, pointer), text === undefined ? undefined : { [pointer]: text }));
  }

  test('several values are read, and missing ones are omitted', () => {
    const body = '{"model":"m","metadata":{"quality":"hd","fps":60},"speed":"fast"}';
    assert.deepEqual(read(body, '/speed', '/metadata/quality', '/metadata/none', '/metadata/fps', '/metadata'), {
      '/speed': '"fast"',
      '/metadata/quality': '"hd"',
      '/metadata/fps': '60',
      '/metadata': '{2}',
    });
    assert.equal(read(body), undefined);
  });

  test('a number that parsers read differently is refused, because its price would be unclear', () => {
    for (const number of [
      '15.0000000000000001',
      '9007199254740993',
      '1e400',
      '-1e400',
      `0.${'1'.repeat(70)}`,
      '1'.repeat(50),
      '1e-400',
      `1${'0'.repeat(39)}.${'0'.repeat(24)}`,
    ]) {
      assert.throws(
        () => read(`{"metadata":{"fps":${number}}}`, '/metadata/fps'),
        (error) =>
          error instanceof GatewayError && error.code === 'invalid_value' && error.message.startsWith('metadata.fps: must be a number'),
        number,
      );
    }
    assert.deepEqual(read('{"a":9007199254740992,"b":0.1,"c":1E+2,"d":-0}', '/a', '/b', '/c', '/d'), {
      '/a': '9007199254740992',
      '/b': '0.1',
      '/c': '1E+2',
      '/d': '-0',
    });
  });

  test('every accepted number has the same price with an exact and with a floating-point parser', () => {
    const amount = compileExpression('/metadata/n ?? 0', 'number');
    const digits = fc.stringMatching(/^(0|[1-9][0-9]{0,18})(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?$/);
    fc.assert(
      fc.property(digits, (text) => {
        let parameters;
        try {
          parameters = read(`{"metadata":{"n":${text}}}`, '/metadata/n');
        } catch {
          return;
        }
        const value = amount.evaluate(scopeOfCall({ usage: {}, pricingParameters: parameters }));
        assert.ok(value.is === 'number');
        assert.equal(Number(value.low.numerator) / Number(value.low.denominator) - Number(text) <= Number(text) * 1e-12, true);
        assert.ok(writeDecimal(value.low).length > 0);
      }),
    );
  });

  test('any JSON value is found at the same pointer as by a parser', () => {
    const name = fc.stringMatching(/^[a-z"\\/~é]{1,4}$/);
    fc.assert(
      fc.property(name, name, fc.string(), fc.boolean(), (outer, inner, text, escaped) => {
        const step = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
        const plain = JSON.stringify({ other: 1, [outer]: { [inner]: text } });
        const body = escaped ? plain.replaceAll(/[a-z]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`) : plain;
        fc.pre(outer !== 'other' && !body.includes('\\\\u00'));
        const pointer = `/${step(outer)}/${step(inner)}`;
        assert.equal(
          read(body, pointer)?.[pointer],
          JSON.stringify(escaped ? (JSON.parse(body)[outer][inner] as string).slice(0, 256) : text.slice(0, 256)),
        );
      }),
    );
  });
});
