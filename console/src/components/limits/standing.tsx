import { useQuery } from '@tanstack/react-query';

import { question } from '../../api/query-client.ts';
import { exactMoney, nanosOf, showMoney } from '../../format/money.ts';
import { showAgo, showMinute, showTime } from '../../format/times.ts';
import { showCount } from '../../format/numbers.ts';
import { Meter } from '../../ui/meter.tsx';
import { Skeleton } from '../../ui/notice.tsx';
import { State } from '../../ui/state.tsx';
import { Failure } from '../failure.tsx';
import { useMinute, useZone } from '../use-page.ts';
import styles from './limits.module.css';
import { levelNames, type MoneyLine, moneyNames, type RateLine, rateNames, toneOf, usedShare } from './standing-lines.ts';

type Level = RateLine['level'];
type Props = {
  readonly user: string;
  readonly keyId?: string;
  /** Only these levels. */
  readonly levels?: readonly Level[];
};

const askedEveryMs = 15_000;

/** Every limit of every level of a user or a key, nearest to its end first: the first one is the one that binds. */
export function Standing({ user, keyId, levels }: Props) {
  const zone = useZone();
  const query = { user, ...(keyId !== undefined && { key_id: keyId }) };
  // The books answer at once. Gateways, which count the rates, may need seconds.
  const books = useQuery(question('standing.get', { query: { ...query, wait_ms: 0 } }));
  const whole = useQuery({ ...question('standing.get', { query }), refetchInterval: askedEveryMs });
  const { error, refetch } = whole;
  const data = whole.data ?? books.data;
  // What is known stays, with its time in the bar above.
  if (data === undefined) return error === null ? <Skeleton rows={4} /> : <Failure error={error} onRetry={() => void refetch()} />;
  const isShown = ({ level }: { readonly level: Level }): boolean => levels === undefined || levels.includes(level);
  const [money, rates] = [data.money.filter(isShown), data.rates.filter(isShown).toSorted((one, other) => usedOf(other) - usedOf(one))];
  const expires = data.expires !== null && isShown(data.expires) ? data.expires : undefined;
  if (money.length + rates.length === 0 && expires === undefined)
    return <p>No limit holds here: calls are never refused for their cost or rate.</p>;
  return (
    <ul className={styles['standing']} aria-label="Standing of limits">
      {money.map((line) => (
        <MoneyStanding key={`${line.level} ${line.of}`} line={line} subject={levelNames[line.level]} />
      ))}
      {rates.map((line) => (
        <RateStanding key={`${line.level} ${line.of}`} line={line} isAsked={whole.data !== undefined} />
      ))}
      {expires !== undefined && (
        <li>
          <span className={styles['what']}>{levelNames[expires.level]} · end</span>
          <span />
          <span className={styles['words']}>{showMinute(expires.at, zone)}</span>
        </li>
      )}
    </ul>
  );
}

/** The used part of a rate; unknown ones come last. */
const usedOf = ({ used, limit }: RateLine): number => (used === null || limit <= 0 ? -1 : used / limit);

/** One limit of money as a bar. @param subject whose it is: a level, or the name of a user, team or key */
export function MoneyStanding({ line, subject }: { readonly line: MoneyLine; readonly subject: React.ReactNode }) {
  const zone = useZone();
  const nowMs = useMinute();
  const share = usedShare(line);
  const { of, limit, spent, reserved, left, is_used_up: isUsedUp, resets_at: resetsAt } = line;
  const name = of === 'balance' ? 'balance' : `spend ${moneyNames[of]}`;
  return (
    <li>
      <span className={styles['what']}>
        {subject} · {name}
        {resetsAt !== null && <small title={showMinute(resetsAt, zone)}>free again {showAgo(resetsAt, nowMs)}</small>}
      </span>
      {share === undefined ? (
        <span className={styles['unknown']} />
      ) : (
        <Meter label={`Used of ${name}`} share={share} tone={toneOf(share, isUsedUp)} />
      )}
      <span className={styles['words']}>
        {limit === null || left === null ? (
          isUsedUp ? (
            <State sign="✗" word="used up" tone="bad" />
          ) : (
            'not used up; the amounts concern others too'
          )
        ) : (
          <>
            {isUsedUp ? (
              <State sign="✗" word="used up" tone="bad" />
            ) : (
              <b title={exactMoney(nanosOf(left))}>{showMoney(nanosOf(left))} left</b>
            )}{' '}
            of <span title={exactMoney(nanosOf(limit))}>{showMoney(nanosOf(limit))}</span>
            <small>
              {spent !== null && `${showMoney(nanosOf(spent))} spent`}
              {spent !== null && reserved !== null && ', '}
              {reserved !== null && `${showMoney(nanosOf(reserved))} set aside for calls`}
            </small>
          </>
        )}
      </span>
    </li>
  );
}

function RateStanding({
  line: { level, of, limit, used, free_at: freeAt },
  isAsked,
}: {
  readonly line: RateLine;
  readonly isAsked: boolean;
}) {
  const nowMs = useMinute();
  const zone = useZone();
  const share = used === null || limit <= 0 ? undefined : Math.min(1, used / limit);
  const isUsedUp = used !== null && used >= limit;
  return (
    <li>
      <span className={styles['what']}>
        {levelNames[level]} · {rateNames[of]}
        {freeAt !== null && <small title={showTime(freeAt, zone)}>free again {showAgo(freeAt, nowMs)}</small>}
      </span>
      {share === undefined ? (
        <span className={styles['unknown']} />
      ) : (
        <Meter label={`Used of ${rateNames[of]}`} share={share} tone={toneOf(share, isUsedUp)} />
      )}
      <span className={styles['words']}>
        {used === null ? (
          <>
            at most {showCount(limit)}
            <small>{isAsked ? 'what is used is unknown: a gateway is silent, or it concerns others' : 'gateways are being asked'}</small>
          </>
        ) : (
          <>
            {isUsedUp ? <State sign="✗" word="used up" tone="bad" /> : <b>{showCount(limit - used)} left</b>} of {showCount(limit)}
            <small>{showCount(used)} used in the gateway where most is</small>
          </>
        )}
      </span>
    </li>
  );
}
