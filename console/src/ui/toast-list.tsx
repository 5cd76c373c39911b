import { CSPProvider } from '@base-ui/react/csp-provider';
import { Toast } from '@base-ui/react/toast';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';

import { Icon } from './icon.tsx';
import styles from './toast-list.module.css';

const manager = Toast.createToastManager();
let isShown = false;

/** Shows a toast. They have a root of their own, made for the first one. */
export function showToast(title: string, description: string | undefined): void {
  if (!isShown) {
    isShown = true;
    const root = createRoot(document.body.appendChild(document.createElement('div')));
    // The list must listen before the first toast comes.
    flushSync(() => root.render(<Toasts />));
  }
  manager.add(description === undefined ? { title } : { title, description });
}

function Toasts() {
  return (
    <CSPProvider disableStyleElements>
      <Toast.Provider toastManager={manager} timeout={5000} limit={3}>
        <Toast.Portal>
          <Toast.Viewport className={styles['place']}>
            <List />
          </Toast.Viewport>
        </Toast.Portal>
      </Toast.Provider>
    </CSPProvider>
  );
}

function List() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={styles['toast']}>
      <Toast.Content className={styles['content']}>
        <Icon name="check" />
        <div>
          <Toast.Title className={styles['title']} />
          <Toast.Description className={styles['text']} />
        </div>
        <Toast.Close className={styles['close']} aria-label="Close">
          <Icon name="close" />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
