import Type from 'typebox';

import { disconnectPolicies } from '../../accounts/disconnect-policy.ts';
import { defaultCredits } from '../../gateway/settings/call-settings.ts';

/** Settings of the amounts that are held for calls of users and keys with a spending limit. */
export const creditsSchema = Type.Object(
  {
    outputTokensDefault: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        default: defaultCredits.outputTokensDefault,
        description:
          'Output tokens whose cost is held if a request sets no limit. A stream that writes more gets another hold of the same size while there is credit for it.',
      }),
    ),
    coversUnbounded: Type.Optional(
      Type.Enum(['none', 'whole', 'reasoning'], {
        default: defaultCredits.coversUnbounded,
        description:
          'Which calls without a limit in the request hold the cost of the longest output of their model, so that they never cost more than is held. none: no calls; they hold outputTokensDefault, and a higher cost is charged; whole: calls without a stream; reasoning: also streams of models with hidden reasoning.',
      }),
    ),
    exhausted: Type.Optional(
      Type.Enum(['cut', 'finish'], {
        default: defaultCredits.exhausted,
        description:
          'What happens to a stream that has used up its hold and gets no further one. cut: it ends as if the model had reached its token limit; finish: it continues to its end, and its full cost is charged.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Amounts that are held for calls of users and keys with a spending limit.' },
);

/** The policy for calls whose client disconnects. */
export const disconnectSchema = Type.Enum([...disconnectPolicies], {
  default: 'abort',
  description:
    'What happens when a client disconnects during a call, for keys without a setting of their own. abort: the request to the upstream is aborted, and the generated output is charged. drain: the reply is read for up to 30 more seconds, and the reported usage is charged. deliver: the request is aborted, and only delivered output is charged.',
});
