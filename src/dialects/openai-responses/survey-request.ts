import { jsonKind, type JsonIndex, noNode } from '../../platform/json/json-index.ts';
import { NameTable } from '../../platform/json/name-table.ts';
import { beginsWith, createSurvey, foreignProofs, type Watch } from '../request-survey.ts';
import { ownItemPrefixes } from './codec/write-server-tools.ts';
import { ownReasoningPrefix } from './show-item.ts';

const isOneOf = (...texts: readonly string[]): NonNullable<Watch['test']> => {
  const table = new NameTable(texts);
  return (index, value) => index.kind(value) === jsonKind.string && table.find(index, value) !== -1;
};

/** An item that has neither type nor role may be a reference. */
function hasBareItem(index: JsonIndex, input: number): boolean {
  if (index.kind(input) !== jsonKind.array) return false;
  const end = index.next(input);
  for (let item = index.first(input); item < end; item = index.next(item)) {
    if (index.find(item, 'role') !== noNode) continue;
    const type = index.find(item, 'type');
    if (type === noNode || index.kind(type) !== jsonKind.string) return true;
  }
  return false;
}

export const surveyRequest = createSurvey(
  ['instructions', 'input', 'tools', 'text', 'prompt'],
  [
    foreignProofs,
    { finding: 'foreign-proof', names: ['id'], test: beginsWith(ownReasoningPrefix, ...ownItemPrefixes) },
    { finding: 'stored-id', names: ['prompt'], test: (index, prompt) => index.find(prompt, 'id') !== noNode },
    { finding: 'stored-id', names: ['container', 'container_id'], test: (index, id) => index.kind(id) === jsonKind.string },
    { finding: 'own-spelling', names: ['domains'] },
    { finding: 'compaction', names: ['type'], test: isOneOf('compaction', 'compaction_trigger') },
    { finding: 'reference', names: ['type'], test: isOneOf('item_reference') },
    { finding: 'reference', names: ['input'], test: hasBareItem },
  ],
);
