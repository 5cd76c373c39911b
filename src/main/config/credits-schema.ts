import Type from 'typebox';

import { disconnectPolicies } from '../../accounts/disconnect-policy.ts';
import { defaultCredits } from '../../gateway/credits/credit-settings.ts';

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
