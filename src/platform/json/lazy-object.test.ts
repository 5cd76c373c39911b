import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyUnit } from '../testing/any-unit.ts';
import { indexJson } from './index-json.ts';
import { lazyObject, lazyObjectInSlices, materialize, readAhead, readingAhead } from './lazy-object.ts';
import type { JsonObject } from './json-value.ts';

const read = (text: string): JsonObject => lazyObject(indexJson(Buffer.from(text))) ?? assert.fail('no object');

const long = 'long é\n"'.repeat(1000);
const text = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: long }], stream: true, '10': [long], tools: null });

const isRead = (object: JsonObject, name: string): boolean => Object.getOwnPropertyDescriptor(object, name)?.get === undefined;

test('a large member is parsed when it is read first, and is the same value from then on', () => {
  const object = read(text);
  assert.ok(isRead(object, 'model') && !isRead(object, 'messages'));
  assert.ok('messages' in object && Object.hasOwn(object, 'messages') && Object.keys(object).includes('messages'));
  assert.ok(!isRead(object, 'messages'));
  const { messages } = object;
  assert.deepEqual(messages, JSON.parse(text).messages);
  assert.ok(isRead(object, 'messages') && !isRead(object, '10'));
  assert.equal(object.messages, messages);
});

test('objects with the same large members have their own values', () => {
  const [first, second] = ['a', 'b'].map((unit) => read(JSON.stringify({ messages: unit.repeat(2000), other: unit.repeat(3000) })));
  assert.deepEqual([second?.messages, first?.messages], ['b'.repeat(2000), 'a'.repeat(2000)]);
  assert.deepEqual([first?.other, second?.other], ['a'.repeat(3000), 'b'.repeat(3000)]);
});

test('an object with large members is copied and written like a parsed one', () => {
  const parsed = JSON.parse(text);
  assert.deepEqual({ ...read(text) }, parsed);
  assert.deepEqual(structuredClone(read(text)), parsed);
  assert.equal(JSON.stringify(read(text)), JSON.stringify(parsed));
  assert.deepEqual(Object.entries(read(text)), Object.entries(parsed));
  const { messages: _left, ...rest } = read(text);
  assert.deepEqual(Object.keys(rest), ['10', 'model', 'stream', 'tools']);
});

test('a large member named `__proto__` is an ordinary member', () => {
  const hostile = `{"__proto__":{"a":"${'x'.repeat(9000)}","__proto__":["${'y'.repeat(30_000)}"]},"b":1}`;
  const object = read(hostile);
  assert.equal(Object.getPrototypeOf(object), Object.prototype);
  assert.deepEqual(object, JSON.parse(hostile));
});

test('any object equals the parsed one, with members of any size', () => {
  const size = fc.constantFrom(0, 10, 4000, 20_000);
  const value = fc
    .tuple(fc.jsonValue({ maxDepth: 3 }), size, fc.constantFrom('x', 'é', '\n'))
    .map(([plain, length, unit]) => [plain, { text: unit.repeat(length), inner: [plain, unit.repeat(length)] }]);
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: anyUnit }), value, { maxKeys: 5 }), (object) => {
      const json = JSON.stringify(object);
      const lazy = read(json);
      assert.equal(JSON.stringify(lazy), JSON.stringify(JSON.parse(json)));
      assert.deepEqual(lazy, JSON.parse(json));
      const list = Buffer.from(`[${json}]`);
      assert.deepEqual(materialize(indexJson(list), 0), JSON.parse(list.toString()));
    }),
    { numRuns: 150 },
  );
});

test('in slices, what takes long to parse is parsed at once, and long texts are left', async () => {
  const many = Array.from({ length: 500 }, (_, at) => ({ at, text: 'short' }));
  const object = { many, image: [{ url: 'x'.repeat(50_000) }], escaped: '\n'.repeat(20_000), some: many.slice(0, 250), last: 1 };
  const index = indexJson(Buffer.from(JSON.stringify(object)));
  const lazy = (await lazyObjectInSlices(index, { stepBytes: 10_000 })) ?? assert.fail('no object');
  assert.deepEqual(
    Object.keys(object).filter((name) => !isRead(lazy, name)),
    ['image', 'some'],
  );
  assert.deepEqual(lazy, object);
  const small = Object.fromEntries(many.map(({ at }) => [`key ${at}`, { at }]));
  assert.deepEqual(await lazyObjectInSlices(indexJson(Buffer.from(JSON.stringify(small))), { stepBytes: 1000 }), small);
  assert.equal(await lazyObjectInSlices(indexJson(Buffer.from('[]'))), undefined);
});

test('a root that is not an object has no members', () => {
  for (const other of ['[]', '"x"', '1', 'null', 'true']) assert.equal(lazyObject(indexJson(Buffer.from(other))), undefined);
});

test('members read ahead equal the parsed ones, and those that were read or changed before stay', async () => {
  const texts = { ascii: 'x'.repeat(50_000), other: 'é 🌊'.repeat(9000), escaped: '\n"'.repeat(9000) };
  const whole = { list: [texts, { ...texts, inner: [texts] }], one: 'y'.repeat(6000), changed: 'z'.repeat(6000), last: 1 };
  const object = read(JSON.stringify(whole));
  const { one } = object;
  Object.defineProperty(object, 'changed', { value: 'mine' });
  const reading = readAhead(object, { stepBytes: 10_000 });
  assert.ok(reading instanceof Promise && !isRead(object, 'list'));
  await reading;
  assert.ok(isRead(object, 'list'));
  assert.equal(object.one, one);
  assert.deepEqual(object, { ...whole, changed: 'mine' });
});

test('small bodies, and objects that were not read from a text, need not be read ahead', () => {
  assert.equal(readAhead(read(text)), undefined);
  assert.equal(readAhead({ text: 'x'.repeat(1_000_000) }), undefined);
});

test('work that reads a large member is repeated after the members were read ahead, and other work is done once', async () => {
  const large = read(JSON.stringify({ list: [{ text: 'é'.repeat(300_000) }], one: 'x' }));
  let times = 0;
  const count =
    <Result>(read: () => Result) =>
    () => {
      times += 1;
      return read();
    };
  assert.equal(
    readingAhead(
      large,
      count(() => large.one),
    ),
    'x',
  );
  assert.throws(
    () =>
      readingAhead(
        large,
        count(() => assert.fail('wrong')),
      ),
    /wrong/,
  );
  assert.equal(times, 2);
  assert.ok(!isRead(large, 'list'));
  const done = readingAhead(
    large,
    count(() => large.list),
  );
  assert.ok(done instanceof Promise);
  assert.deepEqual(await done, [{ text: 'é'.repeat(300_000) }]);
  assert.equal(times, 4);
  const rejected = read(JSON.stringify({ list: 'é'.repeat(300_000) }));
  await assert.rejects(async () => await readingAhead(rejected, () => assert.fail(JSON.stringify(rejected.list).slice(0, 2))), /é/);
  const small = read(text);
  assert.deepEqual(
    readingAhead(small, () => small.messages),
    JSON.parse(text).messages,
  );
});
