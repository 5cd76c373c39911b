import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { createMasker, maskCredentials, type MaskCounts } from './mask-text.ts';
import { refuseExpression } from './own-patterns.ts';

const mask = createMasker();

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJlLW9mLXRva2Vu';
const values: readonly (readonly [kind: string, value: string])[] = [
  ['credential', 'sk-weir-abcdefghij_0123456789'],
  ['credential', 'sk-ant-api03-AbCdEfGhIjKlMnOpQrSt-uv'],
  ['credential', 'sk-proj-AbCdEfGhIjKlMnOpQrStuvwx1234'],
  ['credential', 'ghp_AbCdEfGhIjKlMnOpQrStuvwx123456789012'],
  ['credential', 'xoxb-1234567890-abcdefghij'],
  ['credential', `AIza${'Sy0aB-_'.repeat(5)}`],
  ['credential', 'AKIAIOSFODNN7EXAMPLE'],
  ['credential', jwt],
  ['credential', `-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----`],
  ['email', 'ann.smith+news@mail.example.co.uk'],
  ['email', 'j\u00fcrgen@b\u00fccher.example'],
  ['card', '4111 1111 1111 1111'],
  ['card', '4111-1111-1111-1111'],
  ['card', '378282246310005'],
  ['card', '5555555555554444'],
  ['iban', 'DE89 3704 0044 0532 0130 00'],
  ['iban', 'GB82WEST12345698765432'],
  ['iban', 'no93 8601 1117 947'],
  ['phone', '+49 711 123-4567'],
  ['phone', '+1 (212) 555-0104'],
  ['phone', '0711 / 123 45 67'],
  ['phone', '(212) 555-0104 77'],
  ['phone', '01.23.45.67.89'],
];

describe('what is masked', () => {
  for (const [kind, value] of values) {
    test(`${kind}: ${value.slice(0, 40).replaceAll('\n', ' ')}`, () => {
      const counts: MaskCounts = {};
      assert.equal(mask(`Before ${value} after`, counts), `Before [${kind}] after`);
      assert.deepEqual(counts, { [kind]: 1 });
    });
  }

  test('the value of a named secret, and not its name', () => {
    for (const [text, masked] of [
      ['DB_PASSWORD=hunter2 next', 'DB_PASSWORD=[credential] next'],
      ['{"api_key": "abc def 12"}', '{"api_key": "[credential]"}'],
      ['Authorization: Bearer abcdefghijkl.mnop', 'Authorization: Bearer [credential]'],
      ['postgres://ann:s3cr3t@db/x', 'postgres://ann:[credential]@db/x'],
      ["client_secret: 'x y'", "client_secret: '[credential]'"],
    ] as const)
      assert.equal(mask(text), masked);
  });

  test('a card number between other numbers is found', () => {
    assert.equal(mask('Order 12 4111 1111 1111 1111 35 x'), 'Order 12 [card] 35 x');
    const singles = '4111111111111111'.split('').join(' ');
    assert.doesNotMatch(mask(`${'1 '.repeat(50)}${singles}`), /4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1/);
  });

  test('an address that is encoded for the web', () => assert.equal(mask('?to=ann%40example.org&x'), '?to=[email]&x'));

  test('a private key that was cut is masked to its end', () =>
    assert.equal(mask('x -----BEGIN PRIVATE KEY-----\nMIIE'), 'x [credential]'));
});

test('a value that the end of a text cuts, as in a reply at its limit, is masked too', () => {
  for (const [text, masked] of [
    ['You wrote: Mail me at jo@exam', 'You wrote: Mail me at [email]'],
    ['to jo.doe@', 'to [email]'],
    ['to jo%40example', 'to [email]'],
    ['the key sk-ant-api', 'the key [credential]'],
    ['card 4111 1111 1111', 'card [phone]'],
    ['card 4111-1111-1111-1', 'card [phone]'],
    ['card 411111111111111', 'card [card]'],
  ] as const)
    assert.equal(mask(text), masked);
  for (const text of ['ask @ann', 'at 1795859101083', 'order 4111 1111', 'a task-based one', 'jo@exam ple']) assert.equal(mask(text), text);
});

test('ordinary text, numbers, dates and identifiers stay', () => {
  for (const text of [
    'The year 2026, 12:34:56, 3.14159265358979, 1,000,000 and 42 %',
    'on 2026-11-27 12:34:56 or 27.11.2026 10:00',
    'version 1.2.3, port 8080, error 404, 100-200 items',
    'call_1f0Cq9 and msg-000000, sha256:ab12 34',
    'The password is wrong; secret santa; token: a',
    'a @ b, @ann, 5 @ 3',
    'DE89 is no account, and GB82WEST12345698765433 has wrong digits',
    'total 1234 5678 9012 3456',
  ])
    assert.equal(mask(text), text);
});

test('only credentials are masked in what is kept for debugging', () =>
  assert.equal(maskCredentials('ann@example.org sk-weir-abcdefghij_0123456789'), 'ann@example.org [credential]'));

describe('properties', () => {
  const filler = fc.string({ unit: 'grapheme', maxLength: 60 }).filter((text) => !/[\p{L}\p{N}@%&+(.\-/]$|^[\p{L}\p{N}@.\-/]/u.test(text));
  const alphabet = fc.constantFrom(
    ...'ab0149@.+-/(): "=%4[]_\n'.split(''),
    'sk-',
    'eyJ',
    'password=',
    'DE89',
    '://',
    '[email]',
    '-----BEGIN PRIVATE KEY-----',
  );

  test('a value is found anywhere in a text', () => {
    fc.assert(
      fc.property(filler, fc.constantFrom(...values), filler, (before, [, value], after) => {
        const masked = mask(`${before} ${value} ${after}`);
        assert.ok(!masked.includes(value), masked);
      }),
    );
  });

  test('masking a masked text changes nothing', () => {
    fc.assert(
      fc.property(fc.array(alphabet, { maxLength: 60 }), (parts) => {
        const once = mask(parts.join(''));
        assert.equal(mask(once), once);
      }),
    );
  });
});

describe('the time is linear', () => {
  const hostile = [
    'a',
    'a@',
    '@',
    '1',
    '1 ',
    '1-',
    '+1',
    '0 ',
    '(1)',
    'sk-',
    'sk-a',
    'eyJ',
    'eyJaaaaaaa.',
    'eyJa.b',
    'password=',
    'password="',
    'secret: ',
    'bearer ',
    'DE89',
    'DE89 ',
    'GB82 WEST ',
    '://',
    '://a:',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN ',
    '-----END',
    '&#64;',
    '%40',
    'a.b@c.d',
    'xox',
    'a-',
    'ghp_',
    'AKIA',
    '00 ',
    '4111 ',
    '\u00e9@',
    ' ',
    '\n',
    '"',
    '[',
    'x.',
    'ya29.',
  ];
  const own = createMasker([
    { name: 'ticket', expression: '(a+)+b' },
    { name: 'word', text: 'zebra' },
  ]);
  const costOf = (text: string): number => {
    const begun = process.cpuUsage();
    own(text);
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1000;
  };

  test('64 KiB of any repetition take at most a second and a half of processor time', () => {
    for (const part of hostile) {
      const ms = costOf(part.repeat(Math.ceil(65_536 / part.length)));
      assert.ok(ms < 1500, `${JSON.stringify(part)} took ${Math.round(ms)} ms`);
    }
  });
});

describe('own patterns', () => {
  test('texts and expressions are replaced by their names', () => {
    const own = createMasker([
      { name: 'project', text: 'Blue.Heron' },
      { name: 'ticket', expression: '(?i)\\btick-[0-9]{4,8}\\b' },
    ]);
    assert.equal(own('Blue.Heron BlueXHeron TICK-12345 ann@example.org'), '[project] BlueXHeron [ticket] [email]');
  });

  test('an expression that is not of RE2, or finds nothing as something, is refused with the reason', () => {
    for (const expression of ['(a)\\1', '(?=a)', '(', 'a*', 'x{0,5000}'])
      assert.equal(typeof refuseExpression(expression), 'string', expression);
    assert.equal(refuseExpression('(a+)+$b'), undefined);
  });
});
