// What stands at each place of each operation when it comes from the other account. The first rule that fits counts;
// a place that none fits fails the test by name.
export type Rule = {
  /** Held against "/v3/contacts/lists/{id} path:id". */
  at: RegExp
  /** Which identifier of the other account is sent; undefined: there is nothing of theirs to send. */
  send: string | undefined
  /** refused: 400, 404 or 422. own: it may succeed, since it then names something of one's own. */
  means: 'refused' | 'own'
  /** Without what stands beside it, which would be taken instead. */
  alone?: true
}

const refused = (at: RegExp, send: string): Rule => ({ at, send, means: 'refused' })
const alone = (at: RegExp, send: string): Rule => ({ ...refused(at, send), alone: true })
/** The same name may exist in both accounts, or it filters one's own and finds nothing. */
const own = (at: RegExp, send: string): Rule => ({ at, send, means: 'own' })
const nothing = (at: RegExp, _because: string): Rule => ({ at, send: undefined, means: 'own' })

const contacts: Rule[] = [
  refused(/^\/v3\/contacts\/lists\/.* path:id$/, 'listId'),
  refused(/^\/v3\/contacts\/folders\/.* path:id$/, 'folderId'),
  refused(/^\/v3\/(contacts\/)?segments\/.* path:id$/, 'segmentId'),
  nothing(/^\/v3\/contacts(\/\{identifier\})? body:getId$/, 'it asks for the number of the contact'),
  refused(/^\/v3\/processes\/.* path:processId$/, 'processId'),
  refused(/^\/v3\/contacts\/\{(id|identifier)\}.* path:(id|identifier)$/, 'contactId'),
  nothing(
    /^\/v3\/contacts\/attributes\/.* path:(category|name|option)$/,
    'names of attributes are every account’s own',
  ),
  nothing(/^\/v3\/unsubscribe\/.* path:token$/, 'whoever holds the link may use it'),
  refused(/^\/v3\/contacts\/lists\/.* body:ids\[\]$/, 'contactId'),
  refused(/^\/v3\/contacts\/lists\/.* body:emails\[\]$/, 'email'),
  refused(/^\/v3\/contacts\/lists\/.* body:extIds\[\]$/, 'extId'),
  refused(/^\/v3\/contacts\/batch body:contacts\[\]\.id$/, 'contactId'),
  refused(/^\/v3\/contacts\/batch body:contacts\[\]\.email$/, 'email'),
  alone(/^\/v3\/contacts\/batch body:contacts\[\]\.ext_id$/, 'extId'),
  own(/^\/v3\/contacts(\/\{identifier\}|\/import)? body:(jsonBody\[\]\.)?email$/, 'otherEmail'),
  own(/^\/v3\/contacts(\/\{identifier\}|\/import)? body:(jsonBody\[\]\.)?ext_id$/, 'otherExtId'),
  own(/ (body|query):(contacts\[\]\.)?tags?\[\]$/, 'tag'),
  own(/^\/v3\/contacts query:ids\[\]$/, 'contactId'),
  own(/^\/v3\/contacts query:listIds\[\]$/, 'listId'),
  refused(/^\/v3\/contacts query:segmentId$/, 'segmentId'),
  own(/^\/v3\/contacts query:filter$/, 'filter'),
  refused(/ body:.*[fF]olderId$/, 'folderId'),
  refused(/ body:.*[lL]ist(Id|Ids\[\]|_id)$/, 'listId'),
  refused(/ body:.*[sS]egment(Id|Ids\[\])$/, 'segmentId'),
  own(/doubleOptinConfirmation body:email$/, 'otherEmail'),
  own(/^\/api\/v1\/contacts\/(erase|export) (body|query):email$/, 'email'),
  alone(/^\/api\/v1\/contacts\/(erase|export) (body|query):ext_id$/, 'extId'),
]

const mail: Rule[] = [
  own(/ query:templateId$/, 'templateId'),
  own(/messages\/validate body:template_id$/, 'templateId'),
  refused(/ (path|body|query):.*template(Id|_id)$/, 'templateId'),
  refused(/^\/v3\/smtp\/(email|emailStatus)\/.* path:identifier$/, 'messageHeader'),
  refused(/^\/v3\/smtp\/emails\/.* path:uuid$/, 'uuid'),
  refused(/^\/api\/v1\/messages\/.* path:id$/, 'messageId'),
  refused(/^\/api\/v1\/sandbox\/.* path:id$/, 'capturedId'),
  refused(/^\/(v3|api\/v1)\/.* path:email$/, 'suppressed'),
  alone(/ body:sender\.id$/, 'senderId'),
  refused(/^\/v3\/senders\/\{senderId\}.* path:senderId$/, 'senderId'),
  own(/ query:messageId$/, 'messageHeader'),
  own(/ query:(email|to)$/, 'otherEmail'),
  own(/ (body|query):tags?$/, 'tag'),
  own(/ body:batchId$/, 'batchId'),
  own(/ body:(sender|from|default_sender|steps\[\]\.from)\.email$/, 'senderEmail'),
  own(/ body:(.*\.)?(to|cc|bcc|replyTo|reply_to|emailTo)(\[\])?(\.email)?$/, 'otherEmail'),
  own(/ body:email(\.to\[\])?$/, 'otherEmail'),
  nothing(/ body:attachments\[\]\.content_id$/, 'it names a part of the same message'),
  nothing(/ body:(unsubscriptionPageId|updateFormId)$/, 'there are no such pages'),
]

const campaigns: Rule[] = [
  refused(/^\/(v3\/emailCampaigns|api\/v1\/campaigns)\/\{id\}.* path:id$/, 'campaignId'),
  refused(/ body:.*(campaign_id|emailCampaignId)$/, 'campaignId'),
  nothing(/ body:.*smsCampaignId$/, 'there are none'),
  own(/ body:external_id$/, 'externalId'),
  own(/^\/api\/v1\/stats\/engagement query:listId$/, 'listId'),
]

const rest: Rule[] = [
  refused(/^\/v3\/media\/\{uuid\} path:uuid$/, 'imageUuid'),
  own(/^\/v3\/smtp\/blockedDomains.* (body|path):domain$/, 'blockedDomain'),
  own(/^\/(api\/v1\/domains|v3\/senders\/domains) body:(domain|name)$/, 'otherDomain'),
  refused(/ (path|body):domain(Name)?$/, 'domain'),
  own(/ query:domain$/, 'domain'),
  refused(/ body:import_id$/, 'processId'),
  refused(/^\/api\/v1\/automations\/\{id\} path:id$/, 'automationId'),
  refused(/^\/api\/v1\/automations\/runs query:automation_id$/, 'automationId'),
  refused(/^\/v3\/webhooks\/.* path:id$/, 'webhookId'),
  refused(/^\/v3\/webhooks\/.* path:deliveryId$/, 'deliveryId'),
  nothing(/^\/v3\/webhooks.* body:auth\.token$/, 'it is the receiver’s'),
  own(/ (body|query):(\[\]\.)?event_name(\[\])?$/, 'eventName'),
  refused(/ body:(\[\]\.)?identifiers\.contact_id$/, 'contactId'),
  own(/ body:(\[\]\.)?identifiers\.email_id$/, 'otherEmail'),
  own(/ body:(\[\]\.)?identifiers\.ext_id$/, 'otherExtId'),
  own(/ query:contact_id\[\]$/, 'contactId'),
  nothing(
    / body:(\[\]\.)?(identifiers\.(phone|whatsapp|landline_number)_id|object\.identifiers\.\w+)$/,
    'not looked up',
  ),
  nothing(/ body:cart\.id$/, 'it is the shop’s'),
]

const outreach: Rule[] = [
  refused(/^\/v3\/outreach\/campaigns\/.* path:id$/, 'sequenceId'),
  refused(/^\/v3\/outreach\/campaigns.* body:mailboxIds\[\]$/, 'mailboxId'),
  refused(/^\/v3\/outreach\/inbox\/.* path:id$/, 'replyId'),
  refused(/^\/v3\/outreach\/mailboxes\/.* path:id$/, 'mailboxId'),
  refused(/^\/v3\/outreach\/prospects\/.* path:id$/, 'prospectId'),
  // What is not there is passed over, and said to be.
  own(/^\/v3\/outreach\/.* body:(prospectIds|ids)\[\]$/, 'prospectId'),
  own(/^\/v3\/outreach\/.* body:(emails\[\]|(prospects\[\]\.)?email)$/, 'prospectEmail'),
  own(/^\/v3\/outreach\/inbox query:sequenceId$/, 'sequenceId'),
  own(/^\/v3\/outreach\/inbox query:mailboxId$/, 'mailboxId'),
  own(/^\/v3\/outreach\/inbox query:prospectId$/, 'prospectId'),
]

/** An area of its own adds one table here. */
export const rules: Rule[] = [
  ...outreach,
  ...contacts,
  ...campaigns,
  ...mail,
  ...rest,
  refused(/ query:cursor$/, 'cursor'),
]

export const ruleFor = (path: string, place: string): Rule | undefined =>
  rules.find(({ at }) => at.test(`${path} ${place}`))
