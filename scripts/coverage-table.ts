// The tables of docs/moving-from-brevo.md: every operation under /v3, and what of the provider's there is not.
import { type Operation, operationId } from '../src/kernel/operation.ts'
import { declarationsOnly } from '../src/main/operations.ts'
import { excluded } from '../test/clients/scope.ts'

const sms = '`templateId` is refused; `webUrl` is not called: a webhook of the channel `sms` takes its place'

const values =
  'a value of the wrong type is refused; `forceMerge` merges nothing: what another has is refused, with what to do'

/** What the provider does otherwise. An operation without a note works as there. */
const notes: Record<string, string> = {
  'v3.email.send':
    'a recipient who is suppressed is refused, unless `provider_compatibility` is on; `idempotencyKey` gives the ' +
    'first answer again; `scheduledAt` up to 30 days ahead',
  'v3.campaign.create': 'no `recurring`; the file at `attachmentUrl` at most 4 MB',
  'v3.campaign.update': 'no `recurring`; the file at `attachmentUrl` at most 4 MB',
  'v3.contact.create': values,
  'v3.contact.update': values,
  'v3.attribute.create':
    '`EXT_ID`, `CONSENT_DATE` and `CONSENT_SOURCE` are names that contacts have of their own',
  'v3.contact.double_optin':
    'the mailed link opens a page with a button, since mail scanners follow links; an address is asked three times ' +
    'an hour and ten times a day at most',
  'v3.campaign.send': 'wants the body `{"confirm": true}`, unless `provider_compatibility` is on',
  'v3.contact.import': 'at most 20000 rows in a call',
  'v3.contact.export_all':
    'by `actionForContacts`, list or segment; filters by campaign are refused; `exportMetadata`, ' +
    '`exportSubscriptionStatus` and `exportDateInUTC` change nothing: name columns in `exportAttributes`',
  'v3.folder.delete': 'the lists of the folder stay, in no folder',
  'v3.sender.ips': 'there are no dedicated addresses: the list is empty',
  'v3.sender.own_ips': 'there are no dedicated addresses: the list is empty',
  'v3.sms.send': sms,
  'v3.sms.send_async': sms,
  'v3.sms.templates': 'there are none: the list is empty',
  'v3.webhook.create': 'of email and SMS, not of inbound mail; calls are signed, and tried again for longer',
  'v3.account.get':
    'no postal address and no names of people; without a `default_sender`, an `email` that nobody has',
}

/** What the provider has no path for. */
const additions = [
  /^\/v3\/(outreach|media|segments|unsubscribe|conversions)\b/,
  /^\/v3\/emailCampaigns\/\{id\}\/(pause|stop|resume|cancel|schedule|statistics|recipients)$/,
  /^\/v3\/contacts\/\{\w+\}\/(resubscribe|tags|history)$/,
  /^POST \/v3\/contacts\/segments$/,
  /^\/v3\/contacts\/segments\/\{id\}/,
  /^\/v3\/events\/names$/,
  /^\/v3\/webhooks\/\{id\}\/(secret|deliveries|test)/,
]

const [begin, end] = ['<!-- written by npm run coverage -->', '<!-- until here -->']

/** The page with its tables as they should be. */
export function withTables(page: string): string {
  const [before, rest] = page.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error('the page has lost its marks')
  return `${before}${begin}\n\n${tables()}\n\n${end}${after}`
}

function tables(): string {
  const all = declarationsOnly().filter(({ face }) => face === 'v3')
  const stale = Object.keys(notes).filter((id) => !all.some((op) => operationId(op) === id))
  if (stale.length > 0) throw new Error(`notes on operations that do not exist: ${stale.join(', ')}`)
  const isAdded = ({ method, path }: Operation) =>
    additions.some((form) => form.test(path) || form.test(`${method} ${path}`))
  const theirs = all.filter((op) => !isAdded(op))
  const partly = theirs.filter((op) => notes[operationId(op)]).length
  return [
    `${theirs.length} operations of the provider are there; ${partly} of them differ in something.`,
    table(['operation', 'state', 'what is otherwise'], theirs.map(lineOf)),
    'The provider has no path for these:',
    table(
      ['operation', 'what it does'],
      all.filter(isAdded).map((op) => [nameOf(op), op.summary]),
    ),
    'Methods of the provider’s clients in the same areas that have nothing to call here:',
    table(
      ['method', 'why'],
      Object.entries(excluded).map(([method, why]) => [`\`${method}\``, why]),
    ),
  ].join('\n\n')
}

const nameOf = ({ method, path }: Operation) => `\`${method} ${path}\``

function lineOf(op: Operation): string[] {
  const note = notes[operationId(op)]
  return [nameOf(op), note ? 'partly' : 'works', note ?? '']
}

function table(headings: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n')
}
