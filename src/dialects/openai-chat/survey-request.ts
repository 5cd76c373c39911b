import { jsonKind, type JsonIndex, noNode } from '../../platform/json/json-index.ts';
import { createSurvey, foreignProofs } from '../request-survey.ts';

/** A call that another service may refuse: its type is absent, or its arguments are an object. */
function hasBareCall(index: JsonIndex, calls: number): boolean {
  if (index.kind(calls) !== jsonKind.array) return false;
  const end = index.next(calls);
  for (let call = index.first(calls); call < end; call = index.next(call)) {
    const type = index.find(call, 'type');
    if (type === noNode || index.kind(type) !== jsonKind.string) return true;
  }
  return false;
}

export const surveyRequest = createSurvey(
  ['messages', 'tools', 'functions', 'response_format'],
  [
    foreignProofs,
    { finding: 'stored-id', names: ['audio'], test: (index, audio) => index.find(audio, 'id') !== noNode },
    { finding: 'own-spelling', names: ['json_schema'], test: (index, format) => index.text(index.find(format, 'name')) === undefined },
    { finding: 'own-spelling', names: ['tool_calls'], test: hasBareCall },
    { finding: 'own-spelling', names: ['arguments'], test: (index, value) => index.kind(value) === jsonKind.object },
    { finding: 'own-spelling', names: ['image_url'], test: (index, value) => index.kind(value) === jsonKind.string },
  ],
);
