import { beginsWith, createSurvey } from '../request-survey.ts';
import { neutralToolKeys } from './canonicalize-request.ts';
import { wrappedSignaturePrefix } from './codec/thought-signature.ts';

const textMembers = ['contents', 'systemInstruction', 'system_instruction', 'tools', 'generationConfig', 'generation_config'];

export const surveyRequest = createSurvey(textMembers, [
  { finding: 'foreign-proof', names: ['thoughtSignature', 'thought_signature'], test: beginsWith(wrappedSignaturePrefix) },
  { finding: 'own-spelling', names: Object.keys(neutralToolKeys) },
  { finding: 'stored-id', names: ['cachedContent', 'fileUri', 'fileSearchStoreNames'] },
]);
