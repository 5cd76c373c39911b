import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router';

import { toProblem } from './api/problem.ts';
import { queryClient } from './api/query-client.ts';
import { sessionQuestion } from './api/sign-in.ts';
import { Frame } from './components/frame.tsx';
import { parseSearch, type Search, writeSearch } from './components/search-params.ts';
import { Failure } from './components/failure.tsx';
import { NotFound } from './pages/not-found.tsx';
import { OverviewPage } from './pages/overview/overview-page.tsx';
import { Skeleton } from './ui/notice.tsx';

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyRouteComponent(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});

/** All pages but the sign-in: somebody must be signed in. */
const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  component: Frame,
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
  createRoute({ ...under, path: '/usage', component: lazyRouteComponent(() => import('./pages/usage/usage-page.tsx'), 'UsagePage') }),
  createRoute({ ...under, path: '/calls', component: lazyRouteComponent(() => import('./pages/calls/calls-page.tsx'), 'CallsPage') }),
  createRoute({ ...under, path: '/calls/$id', component: lazyRouteComponent(() => import('./pages/calls/call-page.tsx'), 'CallPage') }),
  createRoute({
    ...under,
    path: '/playground',
    component: lazyRouteComponent(() => import('./pages/playground/playground-page.tsx'), 'PlaygroundPage'),
  }),
  createRoute({ ...under, path: '/keys', component: lazyRouteComponent(() => import('./pages/keys/keys-page.tsx'), 'KeysPage') }),
  createRoute({ ...under, path: '/keys/$id', component: lazyRouteComponent(() => import('./pages/keys/key-page.tsx'), 'KeyPage') }),
  createRoute({
    ...under,
    path: '/upstreams',
    component: lazyRouteComponent(() => import('./pages/upstreams/upstreams-page.tsx'), 'UpstreamsPage'),
  }),
  createRoute({
    ...under,
    path: '/upstreams/$name',
    component: lazyRouteComponent(() => import('./pages/upstreams/upstream-page.tsx'), 'UpstreamPage'),
  }),
  createRoute({ ...under, path: '/models', component: lazyRouteComponent(() => import('./pages/models/models-page.tsx'), 'ModelsPage') }),
  createRoute({
    ...under,
    path: '/models/$name',
    component: lazyRouteComponent(() => import('./pages/models/model-page.tsx'), 'ModelPage'),
  }),
  createRoute({
    ...under,
    path: '/reconciliation',
    component: lazyRouteComponent(() => import('./pages/reconciliation/reconciliation-page.tsx'), 'ReconciliationPage'),
  }),
  createRoute({
    ...under,
    path: '/reconciliation/$id',
    component: lazyRouteComponent(() => import('./pages/reconciliation/comparison-page.tsx'), 'ComparisonPage'),
  }),
  createRoute({ ...under, path: '/prices', component: lazyRouteComponent(() => import('./pages/prices/prices-page.tsx'), 'PricesPage') }),
  createRoute({
    ...under,
    path: '/prices/drafts/$id',
    component: lazyRouteComponent(() => import('./pages/prices/draft-page.tsx'), 'PriceDraftPage'),
  }),
  createRoute({
    ...under,
    path: '/prices/books/$number',
    component: lazyRouteComponent(() => import('./pages/prices/book-page.tsx'), 'PriceBookPage'),
  }),
  createRoute({
    ...under,
    path: '/prices/versions/$version',
    component: lazyRouteComponent(() => import('./pages/prices/book-page.tsx'), 'PriceVersionPage'),
  }),
  createRoute({ ...under, path: '/users', component: lazyRouteComponent(() => import('./pages/users/users-page.tsx'), 'UsersPage') }),
  createRoute({ ...under, path: '/users/$name', component: lazyRouteComponent(() => import('./pages/users/user-page.tsx'), 'UserPage') }),
  createRoute({
    ...under,
    path: '/credits',
    component: lazyRouteComponent(() => import('./pages/credits/credits-page.tsx'), 'CreditsPage'),
  }),
  createRoute({ ...under, path: '/teams', component: lazyRouteComponent(() => import('./pages/teams/teams-page.tsx'), 'TeamsPage') }),
  createRoute({ ...under, path: '/teams/$name', component: lazyRouteComponent(() => import('./pages/teams/team-page.tsx'), 'TeamPage') }),
  createRoute({ ...under, path: '/videos', component: lazyRouteComponent(() => import('./pages/videos/videos-page.tsx'), 'VideosPage') }),
  createRoute({
    ...under,
    path: '/operations',
    component: lazyRouteComponent(() => import('./pages/operations/operations-page.tsx'), 'OperationsPage'),
  }),
  createRoute({ ...under, path: '/audit', component: lazyRouteComponent(() => import('./pages/audit/audit-page.tsx'), 'AuditPage') }),
  createRoute({
    ...under,
    path: '/settings',
    component: lazyRouteComponent(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({
    ...under,
    path: '/settings/$section',
    component: lazyRouteComponent(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({ ...under, path: '/device', component: lazyRouteComponent(() => import('./pages/device/device-page.tsx'), 'DevicePage') }),
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
    defaultErrorComponent: ({ error, reset }) => <Failure error={error} onRetry={reset} />,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
  });
}
