import Type from 'typebox';

import { disconnectPolicies } from '../../accounts/disconnect-policy.ts';
import { defaultCredits } from '../../gateway/settings/call-settings.ts';

/** Settings of what is held for calls whose callers have a limit of what they may spend. */
export const creditsSchema = Type.Object(
  {
    outputTokensDefault: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        default: defaultCredits.outputTokensDefault,
        description:
          'Output tokens for which is held where a request sets no bound of its own. A stream that writes more gets as many again while there is credit for it.',
      }),
    ),
    coversUnbounded: Type.Optional(
      Type.Enum(['none', 'whole', 'reasoning'], {
        default: defaultCredits.coversUnbounded,
        description:
          'Which calls without a bound of their own are held for all that their model can write, so that they never cost more than is held. none: for these, too, outputTokensDefault is held, and what they cost beyond it is charged; whole: replies that are no streams; reasoning: also streams of models that may reason unseen.',
      }),
    ),
    exhausted: Type.Optional(
      Type.Enum(['cut', 'finish'], {
        default: defaultCredits.exhausted,
        description:
          'What becomes of a stream that has used up what is held for it and gets no more. cut: it is ended as if its model had reached its bound of tokens; finish: it goes on to its end, and what it cost is charged.',
      }),
    ),
  },
  { additionalProperties: false, description: 'How much is held for calls of users and keys that may spend only so much.' },
);

/** What is done when clients leave. */
export const disconnectSchema = Type.Enum([...disconnectPolicies], {
  default: 'abort',
  description:
    'What is done when a client leaves its call, for keys that say nothing of it. abort: the upstream is stopped, and what it has generated is charged; drain: its reply is read on for up to 30 seconds, and what it reports is charged; deliver: the upstream is stopped, and only what was delivered is charged.',
});
