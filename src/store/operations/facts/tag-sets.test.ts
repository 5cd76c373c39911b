import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nameKinds } from '../../../billing/calls/call-fact.ts';
import { otherTag, tagBounds } from '../../../billing/calls/tag-bounds.ts';
import type { Database } from '../database.ts';
import type { NamesInTransaction } from './fact-names.ts';
import { numberOfTags } from './tag-sets.ts';

type Kind = keyof typeof nameKinds;

/**
 * Names and links in memory, which answer the questions of `numberOfTags`.
 * @param setsBefore sets that exist before, as far as they are counted
 */
function setUp(setsBefore = 0) {
  const stored = new Map<string, number>();
  const counts = new Map<string, number>([[String(nameKinds.tags), setsBefore]]);
  const links: (readonly [set: number, name: number, value: number])[] = [];
  const keyOf = (kind: Kind, { value, label }: { readonly value: string; readonly label: string }): string =>
    JSON.stringify([nameKinds[kind], label, value]);
  const add = (key: string): number => {
    const [kind, label] = JSON.parse(key) as [number, string];
    for (const counted of [`${kind}`, `${kind} ${label}`]) counts.set(counted, (counts.get(counted) ?? 0) + 1);
    stored.set(key, stored.size + 1);
    return stored.size;
  };
  const names = {
    find: (kind: Kind, name: { value: string; label: string }) => Promise.resolve(stored.get(keyOf(kind, name))),
    numberOf: (kind: Kind, name: { value: string; label: string }) =>
      Promise.resolve(stored.get(keyOf(kind, name)) ?? add(keyOf(kind, name))),
  } as unknown as NamesInTransaction;
  const database = {
    first: (_sql: string, ...of: (string | number)[]) => Promise.resolve({ number: BigInt(counts.get(of.join(' ')) ?? 0) }),
    all: (_sql: string, kind: number) =>
      Promise.resolve(
        [...stored.keys()].flatMap((key) => {
          const [of, , value] = JSON.parse(key) as [number, string, string];
          return of === kind ? [{ value }] : [];
        }),
      ),
    run: (_sql: string, set: number, name: number, value: number) => Promise.resolve(void links.push([set, name, value])),
  } as unknown as Database;
  const valuesOf = (set: number): readonly string[] => {
    const byNumber = new Map([...stored].map(([key, number]) => [number, JSON.parse(key) as [number, string, string]]));
    return links.flatMap(([of, name, value]) => (of === set ? [`${byNumber.get(name)?.[2] ?? ''}=${byNumber.get(value)?.[2] ?? ''}`] : []));
  };
  return { number: (text: string | undefined) => numberOfTags(database, names, text), valuesOf };
}

test('of more names than the bound, the further ones are left out of lists', async () => {
  const { number, valuesOf } = setUp();
  for (let index = 0; index < tagBounds.names; index += 1) assert.notEqual(await number(`n${index}=x`), 0);
  assert.equal(await number('further=x'), 0);
  const mixed = await number('further=x,n7=x');
  assert.deepEqual(valuesOf(mixed), ['n7=x']);
  assert.equal(mixed, await number('n7=x'));
});

test('of more sets than the bound, the further ones are one set, which is (other) under every name', async () => {
  const { number, valuesOf } = setUp(tagBounds.sets - 2);
  const numbers = new Set([await number('a=1,b=1'), await number('a=2,b=1')]);
  assert.equal(numbers.size, 2);
  const further = await number('a=1,c=new');
  assert.equal(numbers.has(further), false);
  assert.deepEqual(valuesOf(further).toSorted(), [`a=${otherTag}`, `b=${otherTag}`, `c=${otherTag}`]);
  assert.equal(await number('a=2,c=new'), further);
  assert.equal(numbers.has(await number('a=1,b=1')), true);
  await number('d=late');
  assert.ok(valuesOf(further).includes(`d=${otherTag}`));
});
