import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router';

import { toProblem } from './api/problem.ts';
import { queryClient } from './api/query-client.ts';
import { sessionQuestion } from './api/sign-in.ts';
import { Frame } from './components/frame.tsx';
import { parseSearch, type Search, writeSearch } from './components/search-params.ts';
import { PageFailure, WholeFailure } from './components/page-failure.tsx';
import { NotFound } from './pages/not-found.tsx';
import { OverviewPage } from './pages/overview/overview-page.tsx';
import { loadAgain } from './ui/load-again.ts';
import { Skeleton } from './ui/notice.tsx';

/** A page in a file of its own. */
function lazyPage<Module extends Readonly<Record<string, unknown>>, Name extends string & keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(loadAgain(load), name);
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyPage(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});

/** All pages but the sign-in: somebody must be signed in. */
const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  component: Frame,
  errorComponent: WholeFailure,
  validateSearch: (search: Record<string, unknown>): Search => search as Search,
  beforeLoad: async ({ location }) => {
    const signInFirst = (): unknown => redirect({ to: '/sign-in', search: { to: location.href }, replace: true, throw: true });
    if (document.documentElement.dataset['session'] === 'none') signInFirst();
    try {
      await queryClient.ensureQueryData(sessionQuestion);
    } catch (error) {
      if (toProblem(error).body.status === 401) signInFirst();
      throw error;
    }
  },
});

const under = { getParentRoute: () => frame } as const;

/** One line for each page. Only the first page is in the first load. */
const pages = [
  createRoute({ ...under, path: '/', component: OverviewPage }),
  createRoute({ ...under, path: '/usage', component: lazyPage(() => import('./pages/usage/usage-page.tsx'), 'UsagePage') }),
  createRoute({ ...under, path: '/calls', component: lazyPage(() => import('./pages/calls/calls-page.tsx'), 'CallsPage') }),
  createRoute({ ...under, path: '/calls/$id', component: lazyPage(() => import('./pages/calls/call-page.tsx'), 'CallPage') }),
  createRoute({
    ...under,
    path: '/playground',
    component: lazyPage(() => import('./pages/playground/playground-page.tsx'), 'PlaygroundPage'),
  }),
  createRoute({ ...under, path: '/keys', component: lazyPage(() => import('./pages/keys/keys-page.tsx'), 'KeysPage') }),
  createRoute({ ...under, path: '/keys/$id', component: lazyPage(() => import('./pages/keys/key-page.tsx'), 'KeyPage') }),
  createRoute({
    ...under,
    path: '/upstreams',
    component: lazyPage(() => import('./pages/upstreams/upstreams-page.tsx'), 'UpstreamsPage'),
  }),
  createRoute({
    ...under,
    path: '/upstreams/$name',
    component: lazyPage(() => import('./pages/upstreams/upstream-page.tsx'), 'UpstreamPage'),
  }),
  createRoute({ ...under, path: '/models', component: lazyPage(() => import('./pages/models/models-page.tsx'), 'ModelsPage') }),
  createRoute({
    ...under,
    path: '/models/$name',
    component: lazyPage(() => import('./pages/models/model-page.tsx'), 'ModelPage'),
  }),
  createRoute({
    ...under,
    path: '/reconciliation',
    component: lazyPage(() => import('./pages/reconciliation/reconciliation-page.tsx'), 'ReconciliationPage'),
  }),
  createRoute({
    ...under,
    path: '/reconciliation/$id',
    component: lazyPage(() => import('./pages/reconciliation/comparison-page.tsx'), 'ComparisonPage'),
  }),
  createRoute({ ...under, path: '/prices', component: lazyPage(() => import('./pages/prices/prices-page.tsx'), 'PricesPage') }),
  createRoute({
    ...under,
    path: '/prices/drafts/$id',
    component: lazyPage(() => import('./pages/prices/draft-page.tsx'), 'PriceDraftPage'),
  }),
  createRoute({
    ...under,
    path: '/prices/books/$number',
    component: lazyPage(() => import('./pages/prices/book-page.tsx'), 'PriceBookPage'),
  }),
  createRoute({
    ...under,
    path: '/prices/versions/$version',
    component: lazyPage(() => import('./pages/prices/book-page.tsx'), 'PriceVersionPage'),
  }),
  createRoute({ ...under, path: '/users', component: lazyPage(() => import('./pages/users/users-page.tsx'), 'UsersPage') }),
  createRoute({ ...under, path: '/users/$name', component: lazyPage(() => import('./pages/users/user-page.tsx'), 'UserPage') }),
  createRoute({
    ...under,
    path: '/credits',
    component: lazyPage(() => import('./pages/credits/credits-page.tsx'), 'CreditsPage'),
  }),
  createRoute({ ...under, path: '/teams', component: lazyPage(() => import('./pages/teams/teams-page.tsx'), 'TeamsPage') }),
  createRoute({ ...under, path: '/teams/$name', component: lazyPage(() => import('./pages/teams/team-page.tsx'), 'TeamPage') }),
  createRoute({ ...under, path: '/videos', component: lazyPage(() => import('./pages/videos/videos-page.tsx'), 'VideosPage') }),
  createRoute({
    ...under,
    path: '/operations',
    component: lazyPage(() => import('./pages/operations/operations-page.tsx'), 'OperationsPage'),
  }),
  createRoute({ ...under, path: '/audit', component: lazyPage(() => import('./pages/audit/audit-page.tsx'), 'AuditPage') }),
  createRoute({
    ...under,
    path: '/settings',
    component: lazyPage(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({
    ...under,
    path: '/settings/$section',
    component: lazyPage(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({ ...under, path: '/device', component: lazyPage(() => import('./pages/device/device-page.tsx'), 'DevicePage') }),
];

const routeTree = root.addChildren([signIn, frame.addChildren(pages)]);

export function createConsoleRouter() {
  return createRouter({
    routeTree,
    parseSearch,
    stringifySearch: writeSearch,
    defaultPreload: 'intent',
    defaultPendingMs: 150,
    defaultPendingMinMs: 0,
    defaultPendingComponent: () => <Skeleton rows={10} />,
    defaultErrorComponent: PageFailure,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
  });
}
