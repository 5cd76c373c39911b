import type { ConverseTraits, ModelTraits } from '../../../inference/model-traits.ts';

/** A model about which nothing is known, and that AWS itself would refuse. */
const everything: ConverseTraits = {
  systemText: true,
  tools: 'streamed',
  forcedTools: ['any', 'tool'],
  resultStatus: true,
  media: ['image', 'file', 'video'],
  cachePoints: [],
  stopSequencesMax: 4,
};

/** What a model supports of Converse. */
export const traitsOf = ({ converse }: ModelTraits): ConverseTraits => converse ?? everything;
