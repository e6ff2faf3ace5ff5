/** Every page, in the order of the bar: its name, the key after `g`, and what it is for. */
export const pageList = [
  { page: 'home', title: 'Home', key: 'h', about: 'What waits, and how the day goes', group: 'now' },
  { page: 'approvals', title: 'Approvals', key: 'a', about: 'Decide what agents may do', group: 'now' },
  { page: 'calls', title: 'Calls', key: 'c', about: 'What agents did, as stories', group: 'now' },
  { page: 'activity', title: 'Activity', key: 'v', about: 'Calls, denials and durations over time', group: 'now' },
  { page: 'anomalies', title: 'Anomalies', key: 'n', about: 'What is out of the ordinary', group: 'now' },
  { page: 'sessions', title: 'Agents', key: 's', about: 'Who is in, with what budget and lease', group: 'who' },
  { page: 'clients', title: 'Clients', key: 'l', about: 'Programs that reach the gate', group: 'who' },
  { page: 'people', title: 'People', key: 'p', about: 'People, teams and permissions', group: 'who' },
  { page: 'rules', title: 'Rules', key: 'r', about: 'What is allowed, and which rules matter', group: 'what' },
  { page: 'tools', title: 'Tools', key: 't', about: 'What can be called', group: 'what' },
  { page: 'upstreams', title: 'Upstreams', key: 'u', about: 'MCP servers behind the gate', group: 'what' },
  { page: 'audit', title: 'Audit', key: 'd', about: 'The log itself, record by record', group: 'what' },
] as const;

export type Page = (typeof pageList)[number]['page'];
export const pages: readonly Page[] = pageList.map(({ page }) => page);

/** Shown on a phone; the others are behind “More”. */
export const mainPages: readonly Page[] = ['home', 'approvals', 'calls', 'activity'];

export function titleOf(page: Page): string {
  return pageList.find((each) => each.page === page)?.title ?? '';
}
