import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import type { Reply } from '../../api/client.ts';
import { curlOf } from '../../api/equivalents.ts';
import { isLost, question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { Failure } from '../../components/failure.tsx';
import { KeyName } from '../../components/key-name.tsx';
import { useSession, useZone } from '../../components/use-page.ts';
import { showTime } from '../../format/times.ts';
import { paths, placeOf } from '../../paths.ts';
import { CodeLine } from '../../ui/copy.tsx';
import { Notice, Skeleton } from '../../ui/notice.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';

type Refusal = Reply<'refusals.list'>['items'][number];

/**
 * Why a request was refused before an upstream. Such a request is no call: it is in no books.
 * @param children shown too if no refusal has this id
 */
export function RefusalDetails({ id, children }: { readonly id: string; readonly children?: ReactNode }) {
  const { data, error, refetch } = useQuery(question('refusals.list', { query: { request_id: id, limit: 1 } }));
  if (isLost(error, data)) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={8} />;
  const [refusal] = data.items;
  if (refusal === undefined)
    return (
      <>
        {children}
        <p>
          No refused request has this id. They are kept for 7 days, of a flood only a sample:{' '}
          <Link to={paths.calls} search={{ tab: 'refused' }}>
            all that were refused
          </Link>
          .
        </p>
      </>
    );
  return <RefusalView refusal={refusal} />;
}

function RefusalView({ refusal }: { readonly refusal: Refusal }) {
  const zone = useZone();
  const { request_id: id, at, status, code, message, key_id: keyId, user, key, address, interface: spoken, path, model } = refusal;
  return (
    <>
      <Notice tone="warning">
        <p>{message}</p>
        {message.includes('…') && <small>… stands for what the client wrote, which is not kept.</small>}
      </Notice>
      <Facts
        rows={[
          ['Refused', `before an upstream, ${showTime(at, zone)}; it cost nothing`],
          ['Status', `${status} ${code}`],
          [
            'Key',
            keyId === null ? (
              'none, or an unknown one'
            ) : (
              <Link key="key" {...placeOf.key(keyId)}>
                <KeyName user={user ?? ''} name={key ?? ''} />
              </Link>
            ),
          ],
          ['Model', model ?? 'none that the gateway serves'],
          ['Request', `${path} (${spoken})`],
          ['Address', address ?? '—'],
        ]}
      />
      <Panel title="What to do">
        <p>
          <NextStep refusal={refusal} />
        </p>
        <p>
          <Link to={paths.calls} search={{ tab: 'refused', code, r: '7d' }}>
            All that were refused for this reason
          </Link>
        </p>
      </Panel>
      <Panel title="The same elsewhere">
        <CodeLine text={`weir refusals --request ${id}`} label="Command" />
        <CodeLine text={curlOf(location.origin, 'refusals.list', { query: { request_id: id } })} label="curl" />
      </Panel>
    </>
  );
}

/** What ends a refusal of its kind. The sentence above says what was wrong with this one. */
function NextStep({ refusal: { code, status, user, key_id: keyId } }: { readonly refusal: Refusal }) {
  const session = useSession();
  const isRate = code === 'rate_limited' || code === 'spend_limit_reached' || code === 'insufficient_credit';
  if (isRate && user !== null && keyId !== null && may(session, 'credits:read'))
    return (
      <>
        See what is left on the pages of <Link {...placeOf.user(user)}>the user</Link> and of <Link {...placeOf.key(keyId)}>the key</Link>.{' '}
        {may(session, 'limits:write') ? 'There you can raise the limit.' : 'An operator can raise a limit.'}
      </>
    );
  if (status === 401)
    return (
      <>
        Send a key that works: see its state and its end on <Link to={paths.keys}>the page of keys</Link>.
      </>
    );
  if (code === 'model_not_found' && may(session, 'upstreams:read'))
    return (
      <>
        Name a model of <Link to={paths.models}>this list</Link>, or add the name to <code>models</code> of the configuration.
      </>
    );
  if (code === 'model_not_found')
    return (
      <>
        Name a model that <code>GET /v1/models</code> lists for this key.
      </>
    );
  if (status === 503) return <>Send it again later: the request itself was not at fault.</>;
  return <>Correct the request as the sentence above says, and send it again. The same request is refused again.</>;
}
