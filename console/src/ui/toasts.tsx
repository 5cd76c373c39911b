import { Toast } from '@base-ui/react/toast';
import type { ReactNode } from 'react';

import { Icon } from './icon.tsx';
import styles from './toasts.module.css';

const manager = Toast.createToastManager();

/** Says shortly that something was done. Nothing essential is said only here. */
export function say(title: string, description?: string): void {
  manager.add(description === undefined ? { title } : { title, description });
}

export function Toasts({ children }: { readonly children: ReactNode }) {
  return (
    <Toast.Provider toastManager={manager} timeout={5000} limit={3}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className={styles['place']}>
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
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
