import './base.css';

import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

import { queryClient } from './api/query-client.ts';
import { openDevice, useLink } from './api/sign-in.ts';
import { readAppearance } from './components/appearance.ts';
import { createConsoleRouter } from './routes.tsx';

const container = document.querySelector('#root');
if (container === null) throw new Error('The page has no element with the id root.');

readAppearance();
// A link of `weir console link` is used before anything is shown, and leaves the address.
await useLink();
openDevice();
// A link that is opened in a tab of the console changes only the fragment.
addEventListener('hashchange', () => openDevice() && location.reload());
const router = createConsoleRouter();

createRoot(container).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
