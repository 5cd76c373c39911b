import type { ExchangeObserver } from '../exchange/exchange-context.ts';
import type { CallCredit } from '../../admission/credits/call-credit.ts';

/** The same observer, which ends what is held with the call, whatever happens while it is settled. */
export function endCreditWithCall(observer: ExchangeObserver, credit: CallCredit): ExchangeObserver {
  return {
    ...observer,
    settled: (outcome, then) => {
      try {
        observer.settled(outcome, then);
      } finally {
        credit.end();
      }
    },
  };
}
