import { type ReactNode, useEffect, useRef } from 'react';

import { Button } from '../ui/button.tsx';

type Pages = {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly isError: boolean;
  readonly fetchNextPage: () => unknown;
};

/** The next page is asked for when the end of the rows is so near to the window. */
const nearPx = 800;

/**
 * Asks for the next page of a list when a person comes near its end, and offers a button for it.
 * @param isSparse the last page had no rows: only the button goes on, as a search without a find has no end in sight
 */
export function More({ pages, isSparse = false, text = 'More' }: { pages: Pages; isSparse?: boolean; text?: ReactNode }) {
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = pages;
  const end = useRef<HTMLSpanElement>(null);
  const latest = useRef(fetchNextPage);
  latest.current = fetchNextPage;
  const mayGoOn = hasNextPage && !isFetchingNextPage && !isError && !isSparse;
  useEffect(() => {
    if (!mayGoOn || end.current === null) return undefined;
    const observer = new IntersectionObserver((seen) => seen.some(({ isIntersecting }) => isIntersecting) && void latest.current(), {
      rootMargin: `0px 0px ${nearPx}px 0px`,
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [mayGoOn]);
  if (!hasNextPage) return null;
  return (
    <span ref={end}>
      <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {text}
      </Button>
    </span>
  );
}
