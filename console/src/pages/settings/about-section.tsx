import { useSession } from '../../components/use-page.ts';
import { Facts, Panel } from '../../ui/panel.tsx';

/** What runs here, and what it sends where. */
export function AboutSection() {
  const { version, time_zone: zone } = useSession();
  return (
    <Panel title="About">
      <Facts
        rows={[
          ['Version', version],
          ['Reporting zone', zone],
          ['Sent elsewhere by these pages', 'nothing: they ask this console alone, as their content security policy enforces'],
          ['Font', 'Inter, SIL Open Font License 1.1'],
          ['Icons', 'several are from Lucide, ISC licence'],
          [
            'Admin API',
            <a key="api" href="/api/v1/openapi.json">
              OpenAPI document
            </a>,
          ],
        ]}
      />
    </Panel>
  );
}
