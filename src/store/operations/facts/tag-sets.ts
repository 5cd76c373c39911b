import { formatTags, readTags } from '../../../accounts/call-tags.ts';
import { nameKinds } from '../../../billing/calls/call-fact.ts';
import { tagBounds, otherTag } from '../../../billing/calls/tag-bounds.ts';
import type { Database } from '../database.ts';
import { readInteger, readText } from '../read-column.ts';
import type { NamesInTransaction } from './fact-names.ts';

/**
 * The number of a set of tags, in the transaction of the follower. 0 without tags. Clients choose tags, so their number
 * is bounded: see tagBounds. The ledger and receipts have them as they were sent.
 */
export async function numberOfTags(database: Database, names: NamesInTransaction, text: string | undefined): Promise<number> {
  if (text === undefined) return 0;
  const known = await names.find('tags', { value: text, label: '' });
  if (known !== undefined) return known;
  const bounded: Record<string, string> = {};
  for (const [name, value] of Object.entries(readTags(text))) {
    if (await mayUseName(database, names, name)) bounded[name] = await boundValue(database, names, name, value);
  }
  const whole = formatTags(bounded);
  return whole === '' ? 0 : await numberOfSet(database, names, whole);
}

async function numberOfSet(database: Database, names: NamesInTransaction, text: string): Promise<number> {
  const known = await names.find('tags', { value: text, label: '' });
  if (known !== undefined) return known;
  const count = 'select count(*) as number from fact_names where kind = ?';
  if (await isFull(database, tagBounds.sets, count, nameKinds.tags)) return await numberOfOthers(database, names);
  const number = await names.numberOf('tags', { value: text, label: '' });
  for (const [name, value] of Object.entries(readTags(text))) await link(database, names, number, name, value);
  return number;
}

/** The set that stands for all further sets: `(other)` under every name. */
async function numberOfOthers(database: Database, names: NamesInTransaction): Promise<number> {
  const others = { value: otherTag, label: '' };
  const known = await names.find('tags', others);
  if (known !== undefined) return known;
  const number = await names.numberOf('tags', others);
  for (const row of await database.all('select value from fact_names where kind = ?', nameKinds.tagName))
    await link(database, names, number, readText(row, 'value'), otherTag);
  return number;
}

async function link(database: Database, names: NamesInTransaction, set: number, name: string, value: string): Promise<void> {
  const nameRef = await names.numberOf('tagName', { value: name, label: '' });
  const valueRef = await names.numberOf('tagValue', { value, label: name });
  await database.run('insert into fact_tags (tags_ref, name_ref, value_ref) values (?, ?, ?)', set, nameRef, valueRef);
}

async function mayUseName(database: Database, names: NamesInTransaction, name: string): Promise<boolean> {
  const tagName = { value: name, label: '' };
  if ((await names.find('tagName', tagName)) !== undefined) return true;
  const count = 'select count(*) as number from fact_names where kind = ?';
  if (await isFull(database, tagBounds.names, count, nameKinds.tagName)) return false;
  await names.numberOf('tagName', tagName);
  const others = await names.find('tags', { value: otherTag, label: '' });
  if (others !== undefined) await link(database, names, others, name, otherTag);
  return true;
}

async function boundValue(database: Database, names: NamesInTransaction, name: string, value: string): Promise<string> {
  const tagValue = { value, label: name };
  if ((await names.find('tagValue', tagValue)) !== undefined) return value;
  const count = 'select count(*) as number from fact_names where kind = ? and label = ?';
  if (await isFull(database, tagBounds.valuesOfName, count, nameKinds.tagValue, name)) return otherTag;
  await names.numberOf('tagValue', tagValue);
  return value;
}

async function isFull(database: Database, most: number, count: string, ...parameters: readonly (string | number)[]): Promise<boolean> {
  const row = await database.first(count, ...parameters);
  return row !== undefined && readInteger(row, 'number') >= most;
}
