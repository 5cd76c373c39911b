import { jsonKind, type JsonIndex } from '../../platform/json/json-index.ts';
import { beginsWith, createSurvey, foreignProofs } from '../request-survey.ts';
import { foreignIdPrefix } from './codec/server-tools.ts';

const isEmptyText = (index: JsonIndex, value: number): boolean => index.kind(value) === jsonKind.string && index.size(value) === 0;

export const surveyRequest = createSurvey(
  ['system', 'messages', 'tools', 'output_config'],
  [
    foreignProofs,
    { finding: 'foreign-proof', names: ['id', 'tool_use_id'], test: beginsWith(foreignIdPrefix) },
    { finding: 'foreign-proof', names: ['encrypted_index'], test: isEmptyText },
    { finding: 'stored-id', names: ['container'], test: (index, value) => index.kind(value) !== jsonKind.null },
    { finding: 'empty-turn', names: ['content'], test: isEmptyText },
  ],
);
