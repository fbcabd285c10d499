import { defaults, type Settings } from '../../accounts/settings/settings.ts'

/** What the account changed, and what the person said; null when nobody asked. */
export type Allowed = { tracking_consent: boolean | null; settings: Partial<Settings> }

/** Whether opens may be noted: asked when the message is made, and again when it is opened. A person's no wins. */
export function mayNoteOpens({ settings, tracking_consent: consent }: Allowed): boolean {
  const wanted = settings.open_tracking ?? defaults.open_tracking
  return (wanted === 'on' && consent !== false) || (wanted === 'consented_only' && consent === true)
}
