import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { curlOf } from '../../api/equivalents.ts';
import { question } from '../../api/query-client.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { usePathPart, useZone } from '../../components/use-page.ts';
import { saveText } from '../../format/csv.ts';
import { showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Empty, Notice } from '../../ui/notice.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { EntriesTable } from './entries-table.tsx';
import { asBook } from './price-words.ts';
import { scopes } from './books-table.tsx';
import styles from './prices-page.module.css';
import { countOf } from '../../format/numbers.ts';

const save = (name: string, book: unknown): void => saveText(`${name}.json`, JSON.stringify(book, undefined, 2), 'application/json');

/** A published book, which never changes. */
export function PriceBookPage() {
  const number = usePathPart('number');
  const zone = useZone();
  const { data } = useSuspenseQuery({ ...question('price_books.get', { params: { number } }), staleTime: Infinity });
  const book = asBook(data.book);
  return (
    <>
      <PageHead title={`Price book store-${data.number}`}>
        <Button icon="download" onClick={() => save(`store-${data.number}`, book)}>
          Book as JSON
        </Button>
        <Button icon="print" onClick={() => window.print()}>
          Print
        </Button>
      </PageHead>
      <div className={styles['facts']}>
        <Facts
          rows={[
            ['First day (UTC)', data.effective_from],
            ['Scope', `${data.scope}: it ${scopes[data.scope]}`],
            ['Author', data.actor],
            ['Published', showMinute(data.published_at, zone)],
            ['Note', data.note ?? '—'],
            ['Version of its author', data.label],
            [
              'Digest (SHA-256)',
              <span key="digest">
                <code>{data.digest}</code> <Copy text={data.digest} label="Copy the digest" />
              </span>,
            ],
          ]}
        />
      </div>
      <Panel title={countOf(book.entries.length, 'price')}>
        <EntriesTable entries={book.entries} />
      </Panel>
      <p>
        <Link to={paths.prices} search={{ tab: 'books' }}>
          All published books
        </Link>
      </p>
      <Equivalent command={`weir prices export ${data.number}`} curl={curlOf(location.origin, 'price_books.get', { params: { number } })} />
    </>
  );
}

/** What stood behind the price version of a receipt. */
export function PriceVersionPage() {
  const version = usePathPart('version');
  const zone = useZone();
  const { data } = useSuspenseQuery({ ...question('price_versions.get', { params: { version } }), staleTime: Infinity });
  const others = [
    { title: 'Prices of models in the configuration', value: data.overrides },
    { title: 'Prices of tools', value: data.tool_prices },
    { title: 'Factors of users and keys', value: data.factors },
  ].filter(({ value }) => Object.keys(value).length > 0);
  return (
    <>
      <PageHead title={`Price version ${version}`}>
        {data.book !== null && (
          <Button icon="download" onClick={() => save(`prices-${version}`, data)}>
            All as JSON
          </Button>
        )}
      </PageHead>
      {data.is_unchanged ? (
        <Notice tone="info">Verified: computed again from the stored prices, the version is the same.</Notice>
      ) : (
        <Notice tone="bad">
          The stored prices do not have this version when it is computed again. They were changed, or this release cannot read them.
        </Notice>
      )}
      <Facts rows={[['First in force', showMinute(data.recorded_at, zone)]]} />
      {data.book === null ? (
        <Empty title="This release cannot read the book." line={`weir prices version ${version}`} />
      ) : (
        <Panel title={countOf(asBook(data.book).entries.length, 'price')}>
          <EntriesTable entries={asBook(data.book).entries} />
        </Panel>
      )}
      {others.map(({ title, value }) => (
        <Panel key={title} title={title}>
          <pre>{JSON.stringify(value, undefined, 2)}</pre>
        </Panel>
      ))}
      <Equivalent
        command={`weir prices version ${version}`}
        curl={curlOf(location.origin, 'price_versions.get', { params: { version } })}
      />
    </>
  );
}
