import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { meterNames, meters } from '../../../inference/meters.ts';
import { compileExpression } from './compile-expression.ts';
import { amount, bounds, holds } from './testing/expression-kit.ts';
import { ExpressionError } from './expression-node.ts';

const request = {
  '/metadata/quality': '"hd"',
  '/metadata/fps': '60',
  '/metadata/seconds': '"15"',
  '/metadata/audio': 'true',
  '/metadata/quoted': '"a\\"b\\\\"',
  '/images': '[3]',
  '/options': '{2}',
  '/a~1b/0': '7',
  resolution: '720p',
};

describe('expressions over the request', () => {
  const rows: readonly (readonly [text: string, value: string])[] = [
    ['1 + 2 * 3', '7'],
    ['(1 + 2) * 3', '9'],
    ['10 - 2 - 3', '5'],
    ['7 / 2', '3.5'],
    ['12 / 2 / 3', '2'],
    ['-3 + --5', '2'],
    ['0.1 + 0.2', '0.3'],
    ['min(3, 2, 5)', '2'],
    ['max(3, 2, 5)', '5'],
    ['7/2', '3.5'],
    ['(6 + 2)/4', '2'],
    ['input_tokens/4', '2.5'],
    ['007 + 100', '107'],
    ['ceil(7 / 2) + floor(7 / 2)', '7'],
    ['ceil(-1.5)', '-1'],
    ['/metadata/fps ?? 24', '60'],
    ['/metadata/none ?? 24', '24'],
    ['/metadata/seconds ?? 5', '15'],
    ['/metadata/quality ?? 5', '5'],
    ['/metadata/quality ?? -2', '-2'],
    ['/metadata/quality ?? input_tokens', '10'],
    ['/metadata/quality ?? (1 + 1)', '2'],
    ['/metadata/quality ?? (true ? 3 : 4)', '3'],
    ['/metadata/quality ?? /metadata/none ?? min(7, 8)', '7'],
    ['/metadata/none ?? /metadata/fps ?? 1', '60'],
    ['(/metadata/fps - 24) ?? 0', '36'],
    ['(/metadata/none * 2) ?? 1', '1'],
    ['/metadata/quality == "hd" ? 2 : 1', '2'],
    ['/metadata/quality == "sd" ? 2 : /metadata/fps > 30 ? 3 : 1', '3'],
    ['size(/images) ?? 0', '3'],
    ['size(/options) ?? 0', '2'],
    ['size(/metadata/fps) ?? 9', '9'],
    ['/a~1b/0 ?? 1', '7'],
    ['output_video_seconds', '1.5'],
    ['output_video_ms', '1500'],
    ['total_input_tokens', '100'],
    ['input_images', '0'],
  ];
  for (const [text, value] of rows) {
    test(`${text} is ${value}`, () => {
      const usage = { outputVideoMs: 1500, inputTokens: 10, cacheReadTokens: 20, cacheWrite5mTokens: 30, cacheWrite1hTokens: 40 };
      assert.equal(amount(text, { usage, pricingParameters: request }), value);
    });
  }

  const truths: readonly (readonly [text: string, holds: boolean])[] = [
    ['/metadata/quality == "hd"', true],
    ["/metadata/quality == 'hd'", true],
    ['/metadata/quality != "hd"', false],
    ['/metadata/quality in ["sd", "hd"]', true],
    ['/metadata/quality in ["sd"]', false],
    ['not /metadata/quality in ["sd"]', true],
    ['not not /metadata/quality == "hd"', true],
    ['"hd" == /metadata/quality', true],
    ['60 == /metadata/fps', true],
    ['60 == /metadata/quality', false],
    ['/metadata/audio in [1, true]', true],
    ['/metadata/quoted == "a\\"b\\\\"', true],
    ['/metadata/fps == 60', true],
    ['/metadata/fps == "60"', true],
    ['/metadata/seconds == 15', true],
    ['/metadata/seconds == 15.0', true],
    ['/metadata/seconds == "15.0"', false],
    ['/metadata/seconds >= 15 and /metadata/seconds <= 15', true],
    ['/metadata/seconds > 15 or /metadata/seconds < 15', false],
    ['/metadata/quality > 0', false],
    ['/metadata/audio == true', true],
    ['/metadata/audio == false', false],
    ['/metadata/none == "hd"', false],
    ['/metadata/none != "hd"', true],
    ['/metadata/none < 5', false],
    ['/metadata/none >= 5', false],
    ['/metadata/none in [1, 2]', false],
    ['present(/metadata/none)', false],
    ['present(/metadata/audio)', true],
    ['present(/images)', true],
    ['/metadata/audio ?? present(/metadata/none)', true],
    ['(/metadata/none ?? "sd") == "sd"', true],
    ['present(speed)', false],
    ['/images == 3', false],
    ['/metadata/fps in [-60, 60]', true],
    ['resolution == "720p"', true],
    ['speed == "fast"', false],
    ['(speed ?? "standard") == "standard"', true],
    ['service_tier == "flex"', true],
    ['true or 1 > 2 and false', true],
    ['(true or 1 > 2) and false', false],
    ['output_tokens > 0', false],
  ];
  for (const [text, expected] of truths) {
    test(`${text}: ${expected}`, () => assert.equal(holds(text, { pricingParameters: request, serviceTier: 'FLEX' }), expected));
  }

  test('a call without stored parameters satisfies no condition', () => {
    assert.equal(holds('present(/a) or speed == "fast" or service_tier == "flex"'), false);
  });

  test('names of the prototype are not parameters', () => {
    assert.equal(holds('present(/constructor) or present(/__proto__)', { pricingParameters: {} }), false);
  });

  test('the pointers of an expression are listed once each', () => {
    const { pointers } = compileExpression('/a == 1 or (/b ?? /a ?? 1) > 2 or /c in ["x"] or present(/d) or not /e == 1', 'condition');
    assert.deepEqual(pointers, ['/a', '/b', '/c', '/d', '/e']);
    assert.deepEqual(compileExpression('(/x == 1 ? 2 : -size(/y)) ?? output_tokens + min(/z, 1) ?? 0', 'number').pointers, [
      '/x',
      '/y',
      '/z',
    ]);
  });
});

describe('an expression that is always wrong is refused when the book is read', () => {
  const faults: readonly (readonly [text: string, purpose: 'condition' | 'number', words: RegExp])[] = [
    ['', 'number', /a value is expected, got the end/],
    ['1 +', 'number', /a value is expected, got the end/],
    ['(1', 'number', /"\)" is expected, got the end \(at character 3\)$/],
    ['(1 2', 'number', /"\)" is expected, got "2"/],
    ['* (1)', 'number', /a value is expected, got "\*"/],
    ['1 "+" 2', 'number', /"\+" is not expected here/],
    ['1 "<" 2', 'condition', /"<" is not expected here/],
    ['1 2', 'number', /"2" is not expected here \(at character 3\)/],
    ['1 ? 2', 'number', /":" is expected/],
    ['1 ? 2 : 3', 'number', /need a condition, got a number/],
    ['tokens', 'number', /"tokens" is not a known name.*output_tokens.*, min\(…\), max\(…\)/],
    ['x'.repeat(60), 'number', /^"x{40}" is not a known name/],
    ['process.env', 'number', /"process" is not a known name|not a known token/],
    ['1 # 2', 'number', /"# 2" is not a known token \(at character 3\)/],
    ['1.5.2', 'number', /not a known token/],
    ['1e3', 'number', /not a known token/],
    ['/a / 0', 'number', /divisor must be a literal number other than 0/],
    ['1 / output_tokens', 'number', /divisor must be a literal number other than 0/],
    ['/metadata/fps', 'number', /may be absent or not a number; add a default/],
    ['/metadata/fps * 2', 'number', /may be absent/],
    ['size(/images)', 'number', /may be absent/],
    ['/a ?? /b', 'number', /may be absent/],
    ['output_tokens > 1 ? size(/a) : 1', 'number', /may be absent/],
    ['1 ?? /a', 'number', /may be absent/],
    ['"hd"', 'number', /a number is required, got a text/],
    ['output_tokens > 1', 'number', /a number is required, got true or false/],
    ['output_tokens', 'condition', /must be true or false, got a number/],
    ['/metadata/audio', 'condition', /must be true or false, got a value of the request/],
    ['/a and /b == 1', 'condition', /need a condition, got a value of the request; compare it/],
    ['not 1', 'condition', /need a condition/],
    ['-speed', 'number', /a text cannot be calculated with/],
    ['-/a', 'number', /may be absent/],
    ['speed > 1', 'condition', /a text cannot be calculated with/],
    ['speed == 1', 'condition', /a text and a number are never equal/],
    ['(size(/a) ?? /b) == "x"', 'condition', /a number and a text are never equal/],
    ['(/b ?? 1) == "x"', 'condition', /a number and a text are never equal/],
    ['output_tokens == true', 'condition', /a number and true or false are never equal/],
    ['speed in ["a", 1]', 'condition', /a text and a number are never equal/],
    ['/a in []', 'condition', /the list is empty/],
    ['/a in [/b]', 'condition', /a list may contain only numbers, texts, true and false/],
    ['/a in [-"b"]', 'condition', /a list may contain only numbers/],
    ['speed ?? 1', 'number', /the values are a text and a number; both must have the same type/],
    ['true ? 1 : "a"', 'number', /the values are a number and a text; both must have the same type/],
    ['true ? /a : 1', 'number', /a value of the request needs a default/],
    ['true ? 1 : /a', 'number', /a value of the request needs a default/],
    ['min(1)', 'number', /min takes 2 to 8 operands, not 1/],
    ['max(1, 2, 3, 4, 5, 6, 7, 8, 9)', 'number', /max takes 2 to 8 operands, not 9/],
    ['ceil(1, 2)', 'number', /ceil takes 1 operands, not 2/],
    ['floor(1, 2)', 'number', /floor takes 1 operands, not 2/],
    ['size(/a, /b) ?? 1', 'number', /size takes 1 operands, not 2/],
    ['present(/a, /b)', 'condition', /present takes 1 operands, not 2/],
    ['present(1)', 'condition', /present needs a JSON pointer/],
    ['size(speed)', 'number', /size needs a JSON pointer/],
    ['/a~2', 'number', /"~" must be written ~0/],
    [`"${'x'.repeat(129)}" == speed`, 'condition', /a text has at most 128 characters/],
    [`/${'x'.repeat(128)} ?? 1`, 'number', /a pointer has at most 128 characters/],
    [`1${' '.repeat(500)}`, 'number', /^an expression has at most 500 characters$/],
    [`--${'1+'.repeat(99)}1`, 'number', /at most 200 operands and operators/],
    [`${'('.repeat(30)}1${')'.repeat(30)}`, 'number', /at most 24 levels deep/],
  ];
  for (const [text, purpose, words] of faults) {
    test(`${text.slice(0, 40)} as a ${purpose}`, () => {
      assert.throws(
        () => compileExpression(text, purpose),
        (error) => {
          assert.ok(error instanceof ExpressionError && error.name === 'ExpressionError');
          assert.match(error.message, words);
          return true;
        },
      );
    });
  }

  test('an expression within the limits is accepted', () => {
    compileExpression(`-${'1+'.repeat(99)}1`, 'number');
    compileExpression(`1${' '.repeat(499)}`, 'number');
    compileExpression(`${'(1)+'.repeat(30)}1`, 'number');
    compileExpression(`/${'x'.repeat(127)} ?? 1`, 'number');
    compileExpression(`${'('.repeat(23)}1${')'.repeat(23)}`, 'number');
    compileExpression(`"${'x'.repeat(128)}" == speed`, 'condition');
    compileExpression('"a\\"b\\\\" == speed', 'condition');
  });
});

describe('every count has a name in expressions', () => {
  for (const meter of meterNames) {
    const { name, unit } = meters[meter];
    test(`${name} is the used count, and before the call at most its bound`, () => {
      assert.equal(amount(name, { usage: { [meter]: 1500 } }), '1500');
      if (unit === 'ms') assert.equal(amount(name.replace('_ms', '_seconds'), { usage: { [meter]: 1500 } }), '1.5');
      const whole = unit === 'token' ? (meters[meter].side === 'input' ? 'inputTokens' : 'outputTokens') : meter;
      assert.deepEqual(bounds(name, { [whole]: 70 }), ['0', '70']);
    });
  }
});
