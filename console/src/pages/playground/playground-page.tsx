import { Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';

import { lacks, may } from '../../api/sign-in.ts';
import { Failure } from '../../components/failure.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { SavedViews } from '../../components/saved-views.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useSession } from '../../components/use-page.ts';
import { paths } from '../../paths.ts';
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx';
import { tabClass, Tabs } from '../../ui/tabs.tsx';
import { PayerBar } from './payer-bar.tsx';
import { usePayer } from './use-playground.ts';
import { ChatPage } from './chat-page.tsx';

// Each kind but the first is loaded when it is opened.
const kinds = [
  { id: 'chat', text: 'Chat', component: ChatPage },
  { id: 'images', text: 'Images', component: lazy(() => import('./images-page.tsx').then((page) => ({ default: page.ImagesPage }))) },
  { id: 'speech', text: 'Speech', component: lazy(() => import('./speech-page.tsx').then((page) => ({ default: page.SpeechPage }))) },
  {
    id: 'transcription',
    text: 'Transcription',
    component: lazy(() => import('./transcription-page.tsx').then((page) => ({ default: page.TranscriptionPage }))),
  },
  { id: 'video', text: 'Video', component: lazy(() => import('./video-page.tsx').then((page) => ({ default: page.VideoPage }))) },
  {
    id: 'embeddings',
    text: 'Embeddings',
    component: lazy(() => import('./embeddings-page.tsx').then((page) => ({ default: page.EmbeddingsPage }))),
  },
] as const;

/** Calls of every interface, with what they cost and what went over the wire. */
export function PlaygroundPage() {
  const session = useSession();
  const [search] = useAddress();
  const { users, isWhole, find, payer, error } = usePayer();
  const refused =
    session.person === null
      ? 'The playground is for people: an operator can make you one. Who signed in with a key calls with it.'
      : lacks(session, 'playground:use');
  const kind = kinds.find(({ id }) => id === one(search, 'kind')) ?? kinds[0];
  const isReady = refused === undefined && users !== undefined && payer !== undefined;
  return (
    <>
      <PageHead title="Playground">
        {isReady && (
          <>
            <PayerBar {...{ users, isWhole, find, payer }} />
            <SavedViews page="playground" />
          </>
        )}
      </PageHead>
      {refused !== undefined && <Notice tone="warning">{refused}</Notice>}
      {refused === undefined && error !== null && <Failure error={error} />}
      {refused === undefined && users?.length === 0 && <NobodyPays mayMakeKeys={may(session, 'keys:write')} />}
      {isReady && (
        <>
          <Tabs label="Kinds of calls">
            {kinds.map(({ id, text }) => (
              <Link
                key={id}
                to={paths.playground}
                search={{ user: one(search, 'user'), most: one(search, 'most'), kind: id === 'chat' ? undefined : id }}
                activeOptions={{ exact: false, includeSearch: true, explicitUndefined: true }}
                className={tabClass}
                aria-current={id === kind.id ? 'page' : undefined}
              >
                {text}
              </Link>
            ))}
          </Tabs>
          <Suspense fallback={<Skeleton rows={10} />}>
            <kind.component payer={payer} />
          </Suspense>
        </>
      )}
    </>
  );
}

function NobodyPays({ mayMakeKeys }: { readonly mayMakeKeys: boolean }) {
  return (
    <Empty title="There is no user who could pay for a call." {...(mayMakeKeys && { line: 'weir keys create ann laptop' })}>
      {mayMakeKeys ? (
        <>
          Calls belong to a user. <Link to={paths.keys}>Make a key</Link>: its user can pay here too.
        </>
      ) : (
        'An operator can make you the owner of a user.'
      )}
    </Empty>
  );
}
